import { type Static, Type } from "@sinclair/typebox";
import { checked, closed, nullable, oneOf } from "../schema.ts";
import { Dated, Name, Prose, ROUTE_NAME, SingleLine } from "./fields.ts";

/** What a route can answer; `chat` is chat completions, messages and responses. */
export const ROUTE_SURFACES = ["chat", "embeddings", "image_generation", "tts", "rerank"] as const;
const USAGE_CHUNKS = ["withhold", "pass"] as const;
const ON_CLIENT_GONE = ["drain", "cancel"] as const;
const REFUSE_WITH = ["block", "soft_deny"] as const;
const INEXPRESSIBLE = ["refuse", "drop"] as const;

/** `auto` is not a route's name: it asks the gateway to choose one. */
const RouteName = checked<string>(
  { type: "string", pattern: ROUTE_NAME.source },
  'a name of 1 to 64 of a-z, 0-9, ., _, / and -, other than "auto"',
  (value) => typeof value === "string" && ROUTE_NAME.test(value) && value !== "auto",
);
const Model = SingleLine(256, "Model to ask the provider for.");
const Weight = Type.Integer({
  minimum: 1,
  maximum: 1000,
  description: "Share of the calls, relative to the other targets with a weight.",
});
const Target = closed({ provider: Name, model: Model, weight: Type.Optional(Weight) });
const Seconds = (description: string) =>
  nullable(
    Type.Integer({ minimum: 1, maximum: 3600, description: `${description} Null: as the provider says.` }),
  );

const required = { surface: oneOf(ROUTE_SURFACES), provider: Name, model: Model };
const optional = {
  fallbacks: Type.Array(Target, {
    maxItems: 8,
    default: [],
    description: "Those with a weight share the calls; the others are tried in order.",
  }),
  weight: nullable(Weight),
  first_byte_seconds: Seconds("How long an answer may take to begin before the next target is tried."),
  idle_seconds: Seconds("Longest pause in an answer."),
  description: Prose(2000, "What the route is for. The classifier reads it."),
  examples: Type.Array(Prose(4000, "A text that belongs to this route."), {
    maxItems: 500,
    default: [],
    description: "Texts that belong to this route.",
  }),
  keywords: Type.Array(SingleLine(128), {
    maxItems: 500,
    default: [],
    description: "Words that speak for this route.",
  }),
  guardrails: Type.Array(Name, {
    maxItems: 64,
    default: [],
    description: "Guardrails without conditions that apply here, by name.",
  }),
  body_capture: Type.Boolean({
    default: false,
    description: "Stores prompts and answers, encrypted, for at most 7 days. Every read is audited.",
  }),
  subscription_passthrough: Type.Boolean({ default: false }),
  usage_chunk: oneOf(
    USAGE_CHUNKS,
    "Whether a client sees the usage chunk of a stream that only the gateway asked for.",
  ),
  on_client_gone: oneOf(
    ON_CLIENT_GONE,
    "When a client hangs up: `drain` reads the answer to its end, so its usage is known; `cancel` cancels the call.",
  ),
  refuse_with: oneOf(
    REFUSE_WITH,
    "How a guardrail refuses a call: with an error, or with an answer that says so.",
  ),
  inexpressible: oneOf(
    INEXPRESSIBLE,
    "Members that the provider's format cannot express: `refuse` the call, or `drop` them.",
  ),
  enabled: Type.Boolean({ default: true }),
};
const partial = Type.Partial(closed(optional)).properties;

/** `POST /admin/v1/routes`. */
export const RouteBody = closed({ name: RouteName, ...required, ...partial });
export type RoutePut = Omit<Static<typeof RouteBody>, "name">;
/** `PATCH /admin/v1/routes/{name}`: absent members are kept. */
export const RoutePatch = Type.Partial(closed({ ...required, ...optional }));
export type RoutePatch = Static<typeof RoutePatch>;

export const RouteView = closed({
  name: RouteName,
  ...required,
  ...optional,
  ...Dated,
});
export type RouteView = Static<typeof RouteView>;
