import { Elysia } from "elysia";

/** While the process stops, each answer asks its client for a new connection: one that is reused would be cut. */
export const lastAnswers = ({ lifecycle }: { lifecycle: { stopping: boolean } }) =>
  new Elysia({ name: "plugin.last-answers" }).onRequest(({ set }) => {
    if (lifecycle.stopping) set.headers["connection"] = "close";
  });
