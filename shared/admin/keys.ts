import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { closed, Flag, nullable, oneOf, Removable, Text, TextOrNull } from "../schema.ts";
import { Instant, Name, SingleLine, Usd } from "./fields.ts";
import { ToolScope } from "./mcp-servers.ts";

const listOf = <T extends TSchema>(item: T, description: string) =>
  Type.Optional(Type.Array(item, { maxItems: 1000, uniqueItems: true, description }));

/** What a key may use. An absent list does not limit, an empty one allows nothing; a call must satisfy all lists. */
const scopes = <T extends TSchema>(tool: T) =>
  closed({
    routes: listOf(SingleLine(256), "Names of routes. Absent: all."),
    models: listOf(SingleLine(256), "Concrete models, fallbacks included. Absent: all."),
    mcp: listOf(tool, "Tool servers, or single tools as `server__tool`. Absent: all."),
    providers: listOf(
      Name,
      "Providers whose own addresses the key may call below `/providers/{name}/`, as far as their `pass_through` opens them. Absent: none.",
    ),
    reports: Type.Optional(Flag("Whether the key may read reports. Absent: no.")),
  });

export const BUDGET_PERIODS = ["day", "month"] as const;
/** How a key's calls are treated while the database is away. */
export const WHEN_AWAY = ["local", "refuse"] as const;
/** What a budget does with calls of models without a price. */
export const UNPRICED_WORDS = ["refuse", "allow"] as const;
export const UnpricedField = oneOf(
  UNPRICED_WORDS,
  "What the budget does with calls of models without a price, whose cost it cannot bound. `refuse`, the default: 403 `unpriced_model`. `allow`: they count as nothing.",
);
const rate = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000_000, description }));
const Limits = closed({
  requests_per_minute: rate("Calls admitted per minute."),
  tokens_per_minute: rate("Input and output tokens per minute."),
  concurrency: rate("Calls at once."),
  budget_usd: Type.Optional(Usd("What the key may spend per `budget_period`.")),
  budget_period: Type.Optional(oneOf(BUDGET_PERIODS)),
  unpriced: Type.Optional(UnpricedField),
  when_away: Type.Optional(
    oneOf(
      WHEN_AWAY,
      "What a gateway does while the database is unavailable. `local`, the default: it counts this key's calls locally and settles them later. `refuse`: it admits its share of the limits, then answers 503.",
    ),
  ),
});

const members = {
  owner: Removable(SingleLine(128, "The person who makes the calls. Null: a service account.")),
  service: Type.Optional(
    Flag("For a program of the owner, such as CI: it does not read the owner's `/v1/me`. Absent: no."),
  ),
  team: Removable({ ...Name, description: "Null: the owner's." }),
  scopes: Type.Optional(scopes(ToolScope)),
  limits: Removable(Limits),
  expires_at: Removable(Instant("The key is refused from then on. Null: never.")),
};

/** Scopes and limits of keys that people make for themselves. */
export const KeyTemplate = closed({
  scopes: Type.Optional(scopes(ToolScope)),
  limits: Removable(Limits),
});
export type KeyTemplate = Static<typeof KeyTemplate>;

/** `POST /admin/v1/keys`. */
export const KeyBody = closed({ name: SingleLine(128), ...members });
export type KeyBody = Static<typeof KeyBody>;
/** `PATCH /admin/v1/keys/{id}`: absent members are kept; `scopes` and `limits` are replaced completely. */
export const KeyPatch = closed({ name: Type.Optional(SingleLine(128)), ...members });
export type KeyPatch = Static<typeof KeyPatch>;

/** Longest time for which an old secret stays valid beside a new one: seven days. */
const GRACE_SECONDS_MAX = 604_800;
/** `POST /admin/v1/keys/{id}/rotate`. */
export const RotateBody = closed({
  grace_seconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: GRACE_SECONDS_MAX,
      default: 0,
      description: "Seconds for which the current secret stays valid.",
    }),
  ),
});
export type RotateBody = Static<typeof RotateBody>;

/** The calls let through while the database was away; figures of all gateways together. */
const Away = closed({
  from: Text("The first minute."),
  to: Text("The last minute."),
  requests: Type.Integer(),
  tokens: Type.Integer(),
  usd: Text("Cost of the calls that have ended."),
  over: {
    ...closed({
      requests_per_minute: Type.Integer(),
      tokens_per_minute: Type.Integer(),
      concurrency: Type.Integer(),
      budget_usd: Text("In the current period."),
    }),
    description: "By how much the key went over its limits; 0 where a limit held, or where there is none.",
  },
});

const KEY_STATUSES = ["active", "expired", "revoked"] as const;
const view = {
  id: Type.String({ format: "uuid" }),
  name: Type.String(),
  owner: nullable(Type.String()),
  own: Flag("Whether its owner made it: it then shares its limits with the other keys that the owner made."),
  service: Flag("Whether it is a program's, which does not read its owner's `/v1/me`."),
  team: TextOrNull("The team that its calls count for. Null: its owner's."),
  // A key may be older than the rules for its entries.
  scopes: scopes(SingleLine(256)),
  limits: nullable(Limits),
  away: Type.Optional({
    ...Away,
    description:
      "Calls that were let through in the last 30 days while the database was away, counted by each gateway for itself. Absent: none.",
  }),
  status: oneOf(KEY_STATUSES),
  secrets: Type.Array(
    closed({
      last_four: Type.String(),
      created_at: Type.String(),
      expires_at: TextOrNull("End of a rotation's grace."),
    }),
    { description: "The valid secrets, newest first, by their last four characters." },
  ),
  expires_at: nullable(Type.String()),
  revoked_at: nullable(Type.String()),
  created_at: Type.String(),
};
export const KeyView = closed(view);
export type KeyView = Static<typeof KeyView>;
/** The one answer that shows a secret: of a creation or a rotation. */
export const KeyWithSecret = closed({
  ...view,
  secret: Text("Shown only once, because only its SHA-256 is stored."),
});
