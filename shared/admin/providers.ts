import { type Static, Type } from "@sinclair/typebox";
import {
  closed,
  FlagOrNull,
  Integer,
  IntegerOrNull,
  matching,
  nullable,
  oneOf,
  Removable,
  Switch,
  Text,
  TextOrNull,
} from "../schema.ts";
import { Credential, Dated, Name, SingleLine } from "./fields.ts";

/** Rows of the provider catalogue. */
export const PROVIDER_KINDS = [
  ...[
    "openai",
    "anthropic",
    "azure",
    "bedrock",
    "bedrock-mantle",
    "bedrock-openai",
    "vertex",
    "vertex-openai",
  ],
  ...["gemini", "mistral", "groq", "together", "openrouter", "deepseek", "xai", "fireworks", "cerebras"],
  ...[
    "perplexity",
    "moonshot",
    "cohere",
    "deepinfra",
    "minimax",
    "zai",
    "ollama",
    "vllm",
    "openai-compatible",
  ],
  ...["anthropic-compatible", "echo"],
] as const;

const Models = nullable(
  Type.Array(SingleLine(256), {
    maxItems: 1000,
    description: "Globs of the models it serves, besides those of its kind in the price list.",
  }),
);
const SubscriptionModels = Type.Array(SingleLine(256), {
  maxItems: 100,
  description:
    "Globs of models that callers' own subscriptions may pay for even without `subscription_passthrough`.",
});
/** Headers that carry no secret; the value of every other one is stored encrypted. */
const SHOWN_HEADERS = [
  ...["accept", "accept-language", "anthropic-beta", "anthropic-version", "http-referer", "openai-beta"],
  ...["openai-organization", "openai-project", "referer", "user-agent", "x-goog-user-project", "x-title"],
];

export const isShownHeader = (name: string): boolean => SHOWN_HEADERS.includes(name.toLowerCase());

/** A value, or `…` and the end of one, as a secret value is shown. */
const Headers = Type.Record(
  Type.String({ pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$" }),
  matching(
    "^(?:[\\u0020-\\u007e]{0,2048}|\\u2026[\\u0020-\\u007e]{0,4})$",
    "one line of at most 2048 printable ASCII characters",
  ),
  {
    maxProperties: 32,
    additionalProperties: false,
    description: `Sent with every call. Values are stored encrypted and shown by their last four characters, which keep the value when sent back; a new \`base_url\` clears them. Shown whole: ${SHOWN_HEADERS.join(", ")}.`,
  },
);

/** Default limits of a provider's answer. */
export const PROVIDER_TIMEOUTS = { firstByteSeconds: 600, idleSeconds: 300 } as const;

/** The surfaces that no route can name. */
const UNROUTED_SURFACES = [
  ...["completions", "moderations", "images.edits", "images.variations"],
  ...["audio.transcriptions", "audio.translations", "realtime"],
] as const;
const DefaultFor = Type.Array(oneOf(UNROUTED_SURFACES), {
  maxItems: UNROUTED_SURFACES.length,
  uniqueItems: true,
  description: "Surfaces without routes whose calls go to it, unless another provider has their model.",
});

const PassThrough = closed({
  paths: Type.Array(SingleLine(256), {
    maxItems: 100,
    description:
      "Globs of the vendor's own paths, such as `/v1/vector_stores*`, that `/providers/{name}/…` passes on for keys whose scope lists this provider. Never the vendor's administration.",
  }),
});

/** API keys of one provider. */
const CREDENTIALS_MAX = 16;
const seconds = (description: string) => Removable(Type.Integer({ minimum: 1, maximum: 3600, description }));

const Location = matching("^[a-z0-9][a-z0-9_-]{0,63}$", "a region such as eu or europe-west1", {
  description:
    "Where its models run, such as `eu`, `europe-west1` or `data_zone`: regional list prices apply. `global`: anywhere. Null: as its address says.",
});

const members = {
  kind: oneOf(PROVIDER_KINDS, "Who sells or serves the models, and how they are spoken to."),
  base_url: Removable(
    SingleLine(
      2048,
      "API root as the vendor's own SDK takes it. Null: the vendor's. A new one clears the credential.",
    ),
  ),
  location: Removable(Location),
  credential: Removable(
    Credential(
      "The vendor's API key; for Bedrock also `AKID:SECRET` or `AKID:SECRET:TOKEN`, for Vertex a service account's key file on one line. Stored encrypted and never shown again. If absent, the current one stays.",
    ),
  ),
  credentials: Type.Optional(
    Type.Array(Credential(), {
      minItems: 1,
      maxItems: CREDENTIALS_MAX,
      description:
        "Several API keys of one vendor account, instead of `credential`: calls are spread over them.",
    }),
  ),
  headers: Type.Optional(Headers),
  models: Type.Optional(Models),
  responses: Switch(true, "Whether it serves /v1/responses itself."),
  trusted_for_passthrough: Switch(false, "Whether a caller's own credential may be passed to it."),
  subscription_passthrough: Switch(false, "Whether callers' own subscriptions may pay for its calls."),
  subscription_models: Type.Optional(SubscriptionModels),
  allow_private_network: Switch(false, "Whether `base_url` may be plain http, loopback or private."),
  default_for: Type.Optional(DefaultFor),
  stream_options: Type.Optional(
    FlagOrNull(
      "Whether it accepts `stream_options`, with which the gateway asks for a stream's usage. Null: as its kind does.",
    ),
  ),
  first_byte_seconds: seconds(
    `How long its answer may take to begin. Null: ${PROVIDER_TIMEOUTS.firstByteSeconds}.`,
  ),
  idle_seconds: seconds(`Longest pause in its answer. Null: ${PROVIDER_TIMEOUTS.idleSeconds}.`),
  in_flight_max: Removable(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      description:
        "Most calls that one gateway may have in flight there; further ones get 503. Null: `CALLS_PER_PROVIDER_MAX`.",
    }),
  ),
  pass_through: Removable(PassThrough),
  enabled: Type.Optional(Type.Boolean({ default: true })),
};

/** `POST /admin/v1/providers`. */
export const ProviderBody = closed({ name: Name, ...members });
export type ProviderPut = Omit<Static<typeof ProviderBody>, "name">;
/** `PATCH /admin/v1/providers/{name}`: absent members are kept. */
export const ProviderPatch = Type.Partial(closed(members));
export type ProviderPatch = Static<typeof ProviderPatch>;

const TargetHealth = closed({
  model: nullable(Type.String()),
  credential: Integer("Which of several credentials, counted from 0."),
  /** `open`: calls go to other targets first; `half_open`: one call tries it; `closed`: it is asked as usual. */
  state: oneOf(["closed", "open", "half_open"]),
  failures: Integer("In a row."),
  cause: Text("Of the last failure."),
  until: TextOrNull("When it is tried again, if it is paused."),
});

const LearnedWire = closed({
  model: Type.String(),
  lacks: Text(
    "The format that the model lacks, `chat` or `responses`, in whose place calls use the other one; or a member that translated calls leave out: `temperature`, `reasoning_effort=max`, `max_tokens>8192`.",
  ),
  learned_at: Type.String(),
});

export const ProviderView = closed({
  name: Name,
  kind: Type.String(),
  base_url: TextOrNull("Null is the vendor's own."),
  location: nullable(Location),
  runs_in: TextOrNull("Its `location`, or what its address says. Null: anywhere, or not known."),
  credential_source: Type.Union([Type.Literal("stored"), Type.Literal("environment"), Type.Literal("none")], {
    description: "Where the credential comes from; the credential itself is never shown.",
  }),
  credential_count: Type.Integer(),
  headers: Headers,
  models: Models,
  responses: Type.Boolean(),
  trusted_for_passthrough: Type.Boolean(),
  subscription_passthrough: Type.Boolean(),
  subscription_models: SubscriptionModels,
  allow_private_network: Type.Boolean(),
  default_for: Type.Array(Type.String()),
  stream_options: nullable(Type.Boolean()),
  first_byte_seconds: nullable(Type.Integer()),
  idle_seconds: nullable(Type.Integer()),
  in_flight_max: nullable(Type.Integer()),
  pass_through: nullable(PassThrough),
  enabled: Type.Boolean(),
  health: Type.Array(TargetHealth, {
    description: "Its targets that failed and have not answered since, as this gateway process sees them.",
  }),
  learned_wires: Type.Array(LearnedWire, {
    description:
      "Formats and members that it refused for models, as this gateway process learned. Each is tried again after 24 hours.",
  }),
  ...Dated,
});
export type ProviderView = Static<typeof ProviderView>;

/** The answer of `POST /admin/v1/providers/{name}/test` and `POST /admin/v1/providers/test`. */
export const ProviderTestResult = closed({
  ok: Type.Boolean(),
  message: Text("What came of it, and what to do, in words."),
  status: IntegerOrNull("The provider's; null if none came."),
  cause: TextOrNull("Why no answer came, as in records."),
  latency_ms: Type.Integer(),
  models: Type.Array(Type.String(), { description: "Ids of its models, in order; empty: not known." }),
});
export type ProviderTestResult = Static<typeof ProviderTestResult>;
