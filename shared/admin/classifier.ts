import { type Static, Type } from "@sinclair/typebox";
import { closed, nullable, oneOf } from "../schema.ts";

/** `GET /admin/v1/classifier`: what `auto` chooses by in this process, and what training found out about the routes. */
export const ClassifierView = closed({
  state: oneOf(["none", "training", "ready"]),
  version: nullable(
    Type.String({
      description: "Of the classifier in force, as records name it; null where nothing classifies.",
    }),
  ),
  trained_at: nullable(Type.String()),
  routes: Type.Array(closed({ name: Type.String(), examples: Type.Integer(), keywords: Type.Integer() }), {
    description: "The routes that it chooses among. A route without examples may live on its template's.",
  }),
  accuracy: nullable(
    Type.Number({
      description:
        "Share of the examples that a classifier which had not seen them gets right; null while a route has fewer than 8, which are not enough to tell.",
    }),
  ),
  confused: Type.Array(closed({ route: Type.String(), with: Type.String(), count: Type.Integer() }), {
    description: "Routes taken for each other, most often first.",
  }),
  misfits: Type.Array(
    closed({
      route: Type.String(),
      example: Type.String({ description: "Its place in the route: `examples/3` is the fourth." }),
      looks_like: Type.String(),
    }),
    { description: "Examples that look like another route's." },
  ),
});
export type ClassifierView = Static<typeof ClassifierView>;
