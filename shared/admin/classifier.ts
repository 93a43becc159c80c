import { type Static, Type } from "@sinclair/typebox";
import { closed, nullable, oneOf } from "../schema.ts";

/** `GET /admin/v1/classifier`: what `auto` chooses by in this process, and what training found out about the routes. */
export const ClassifierView = closed({
  state: oneOf(["none", "training", "ready"]),
  version: nullable(
    Type.String({
      description: "Version of the current classifier, as in records; null if there is none.",
    }),
  ),
  trained_at: nullable(Type.String()),
  routes: Type.Array(closed({ name: Type.String(), examples: Type.Integer(), keywords: Type.Integer() }), {
    description: "The routes it chooses from. A route without examples may use its template's.",
  }),
  accuracy: nullable(
    Type.Number({
      description:
        "Share of held-out examples classified correctly; null while a route has fewer than 8 examples.",
    }),
  ),
  confused: Type.Array(closed({ route: Type.String(), with: Type.String(), count: Type.Integer() }), {
    description: "Pairs of confused routes, most frequent first.",
  }),
  misfits: Type.Array(
    closed({
      route: Type.String(),
      example: Type.String({ description: "Its position in the route: `examples/3` is the fourth." }),
      looks_like: Type.String(),
    }),
    { description: "Examples that look like another route's." },
  ),
});
export type ClassifierView = Static<typeof ClassifierView>;
