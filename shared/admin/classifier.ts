import { type Static, Type } from "@sinclair/typebox";
import { closed, Numeral, NumeralOrNull, nullable, oneOf, Text, TextOrNull } from "../schema.ts";
import { Prose } from "./fields.ts";

/** `GET /admin/v1/classifier`: this process's classifier for `auto`, and the result of training it on the routes. */
export const ClassifierView = closed({
  state: oneOf(["none", "training", "ready"]),
  version: TextOrNull("Version of the current classifier, as in records; null without a classifier."),
  trained_at: nullable(Type.String()),
  routes: Type.Array(closed({ name: Type.String(), examples: Type.Integer(), keywords: Type.Integer() }), {
    description: "The routes it chooses from. A route without examples may use its template's.",
  }),
  accuracy: NumeralOrNull(
    "Share of held-out examples classified correctly; null while a route has fewer than 8 examples.",
  ),
  confused: Type.Array(closed({ route: Type.String(), with: Type.String(), count: Type.Integer() }), {
    description: "Pairs of confused routes, most frequent first.",
  }),
  misfits: Type.Array(
    closed({
      route: Type.String(),
      example: Text("Its position in the route: `examples/3` is the fourth."),
      looks_like: Type.String(),
    }),
    { description: "Examples that look like another route's." },
  ),
});
export type ClassifierView = Static<typeof ClassifierView>;

const Weighed = { weight: Type.Number() };
/** The answer of `/v1/classify` and of `POST /admin/v1/classifier/try`. */
export const ClassifiedText = closed({
  route: Text("The route that `auto` chooses for the text."),
  source: oneOf(["classifier", "default"]),
  confidence: nullable(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: "Estimated chance that the first candidate is right; null without a classifier.",
    }),
  ),
  reason: Type.String(),
  matched: Type.Array(Type.String(), {
    description: "Words and cues in the text that favour the first candidate, strongest first.",
  }),
  candidates: Type.Array(closed({ route: Type.String(), score: Type.Number() }), {
    description: "The routes in the key's scope with their decision values, best first.",
  }),
  why: nullable(
    closed({
      terms: Type.Array(closed({ term: Type.String(), ...Weighed })),
      concepts: Type.Array(closed({ concept: Type.String(), matched: Type.String(), ...Weighed })),
      other: Type.Number(),
      bias: Type.Number(),
      nearest: nullable(
        closed({ route: Type.String(), exampleId: Type.String(), similarity: Type.Number() }),
      ),
      runnerUp: nullable(Type.String()),
      margin: Numeral("The first candidate's lead over the next; the shares add up to it."),
      threshold: Type.Number(),
      hidden: TextOrNull("A kind of task that the text resembles and that no route covers."),
    }),
  ),
});
export type ClassifiedText = Static<typeof ClassifiedText>;

/** `POST /admin/v1/classifier/try`. */
export const ClassifierTry = closed({ input: Prose(100_000, "The text.") });
