import { type Static, Type } from "@sinclair/typebox";
import { boundedText, closed, nullable, oneOf, Removable, Switch } from "../schema.ts";
import { Dated, Name, Prose, SingleLine } from "./fields.ts";

/** Built-in patterns that a rule can look for. */
export const DETECTORS = [
  "email",
  "phone",
  "iban",
  "payment_card",
  "national_id",
  "api_key",
  "private_key",
] as const;
export type DetectorName = (typeof DETECTORS)[number];

const MODES = ["enforce", "observe"] as const;
const ACTIONS = ["block", "soft_deny"] as const;
const ON_FAILURE = ["open", "closed"] as const;

const names = (description: string) =>
  Type.Optional(Type.Array(SingleLine(256), { minItems: 1, maxItems: 200, description }));

export const Match = closed({
  tags: names("Matches any of these tags."),
  keys: names("Matches any of these keys, by id or name."),
  routes: names("Matches any of these routes; `(direct)` means a concrete model without a route."),
  clients: names("Matches any of these clients."),
  models: names("Globs. Matches any model that may be called, fallbacks included."),
  pattern: Type.Optional(
    boundedText({
      minLength: 1,
      maxLength: 1000,
      description: "RE2 expression, tried on every text that a model may read.",
    }),
  ),
  detect: Type.Optional(
    Type.Array(oneOf(DETECTORS), {
      minItems: 1,
      maxItems: DETECTORS.length,
      description: "Built-in patterns, tried on the same texts.",
    }),
  ),
});
export type Match = Static<typeof Match>;

export const Callout = closed({
  url: SingleLine(2048, "Asked by POST with the call's labels and texts; answers `{action, message?}`."),
  timeout_ms: Type.Integer({ minimum: 10, maximum: 30_000, description: "For its whole answer." }),
  on_failure: oneOf(ON_FAILURE, "If it fails: `open` lets the call through, `closed` refuses it."),
  allow_private_network: Switch(false, "Whether `url` may be plain http, loopback or private."),
});
export type Callout = Static<typeof Callout>;

const members = {
  position: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      default: 100,
      description: "Lower ones are tried first; the first match decides.",
    }),
  ),
  enabled: Type.Optional(Type.Boolean({ default: true })),
  mode: Type.Optional(oneOf(MODES, "`observe` only counts matches.")),
  match: Type.Optional(Match),
  action: Type.Optional(oneOf(ACTIONS)),
  message: Removable(Prose(1000, "The message that the client gets. Null: the default message.")),
  callout: Removable(Callout),
};

/** `POST /admin/v1/guardrails`. */
export const GuardrailBody = closed({ name: Name, ...members });
/** `PATCH /admin/v1/guardrails/{name}`: absent members are kept; `match` and `callout` are replaced completely. */
export const GuardrailPatch = closed(members);
export type GuardrailPatch = Static<typeof GuardrailPatch>;

export const GuardrailView = closed({
  name: Name,
  position: Type.Integer(),
  enabled: Type.Boolean(),
  mode: oneOf(MODES),
  match: Match,
  action: oneOf(ACTIONS),
  message: nullable(Type.String()),
  callout: nullable(Callout),
  ...Dated,
});
export type GuardrailView = Static<typeof GuardrailView>;

/** `POST /admin/v1/guardrails/try`. */
export const GuardrailTry = closed({ input: Prose(100_000, "The text.") });
export const GuardrailTryResult = closed({
  matched: Type.Array(closed({ name: Name, mode: oneOf(MODES), action: oneOf(ACTIONS) }), {
    description: "The enabled guardrails whose pattern or detectors match the text, in their order.",
  }),
});
export type GuardrailTryResult = Static<typeof GuardrailTryResult>;
