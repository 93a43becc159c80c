import { Elysia } from "elysia";

export type HealthDeps = {
  recorder: { accepting(): boolean };
  directory: { reachable(): Promise<boolean> };
  /** `stopping` is set once the process is to end: it takes no new calls for long. */
  lifecycle: { stopping: boolean };
};

const TAGS = ["Operation"];
const ALIVE = { summary: "Alive", tags: TAGS, responses: { "200": { description: "Alive." } } };
const READY = {
  summary: "Ready: can record",
  tags: TAGS,
  responses: {
    "200": {
      description: "Ready for calls; `database` says whether Postgres answers: `reachable` or `away`.",
    },
    "503": { description: "Cannot record, or is stopping." },
  },
};

/**
 * `GET /healthz`: the process is alive. `GET /readyz`: it can record, so it may be sent calls; Postgres being away is
 * named but does not make it unready, because calls of known keys go on.
 */
export const health = (deps: HealthDeps) =>
  new Elysia({ name: "surface.health" })
    .get("/healthz", () => ({ status: "ok" }), { detail: ALIVE })
    .get(
      "/readyz",
      async ({ status }) => {
        const database = (await deps.directory.reachable()) ? "reachable" : "away";
        const ready = deps.recorder.accepting() && !deps.lifecycle.stopping;
        const answer = {
          status: ready ? "ready" : "not ready",
          recording: deps.recorder.accepting(),
          database,
        };
        return ready ? answer : status(503, answer);
      },
      { detail: READY },
    );
