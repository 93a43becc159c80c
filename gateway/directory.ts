import type { ModelInfo } from "@pydantic/genai-prices";
import type { Budget, SharedBudget } from "#drizzle/schema/budgets.ts";
import type { KeyLimits, KeyScopes } from "#drizzle/schema/keys.ts";
import type { RouteSurface } from "#drizzle/schema/routes.ts";
import type { DeviceProgram } from "#shared/admin/device-sign-ins.ts";
import type { Settings } from "#shared/settings.ts";
import type { ProviderKind } from "./providers/catalog.ts";
import type { SurfaceName } from "./surface-facts.ts";

/** A credential in memory. It prints as `[secret]`; only `reveal()` returns the value. */
export class Secret {
  readonly #value: string;
  constructor(value: string) {
    this.#value = value;
  }
  reveal(): string {
    return this.#value;
  }
  toString(): string {
    return "[secret]";
  }
  toJSON(): string {
    return "[secret]";
  }
  [Bun.inspect.custom](): string {
    return "[secret]";
  }
}

/** A key's owner, as limits count them: `id` is the account of what all keys of the person cost. */
export type KeyPerson = {
  id: string;
  /** The account of the limits that the keys made by the person share. */
  ownKeys: string;
  budget: Budget | null;
};

/** A client key, reduced to what the call path needs. */
export type ClientKey = {
  id: string;
  name: string;
  owner: string | null;
  /** Whether it is a program's, and no sign-in of its owner. Absent: no. */
  service?: boolean;
  /** Its team, then the teams above it; null: none. */
  teams: string[] | null;
  costCenter: string | null;
  /** Those of its team and the teams above it, of the organisation, and others that name its team, its owner or the key. */
  sharedBudgets: readonly SharedBudget[];
  scopes: KeyScopes;
  limits: KeyLimits | null;
  /** Null or absent: it has no owner. */
  person?: KeyPerson | null;
  /** Its owner made it: all such keys of a person share their limits. */
  own?: boolean;
  /** Milliseconds since 1970: the earlier of the key's and the secret's expiry; null: never. */
  expiresAtMs: number | null;
  /** The program that got it by signing its owner in; null or absent: it was made otherwise. */
  program?: DeviceProgram | null;
};

export type Provider = {
  name: string;
  kind: ProviderKind;
  /** API root without a trailing slash. */
  baseUrl: string;
  /** Where its models run; null or absent: anywhere, or not known. */
  location?: string | null;
  credential: Secret | null;
  /** All of them, if it has several, which share its calls; `credential` is then the one of them to use. */
  credentials?: readonly Secret[];
  /** Which of several `credential` is, counted from 0. */
  account?: number;
  headers: Readonly<Record<string, Secret>>;
  /** Globs of the models it serves; null: not restricted by an administrator. */
  models: readonly string[] | null;
  responses: boolean;
  trustedForPassthrough: boolean;
  /** Callers' own subscriptions may pay for its calls. */
  subscriptionPassthrough: boolean;
  /** Globs of models for which they may, whatever `subscriptionPassthrough` says. */
  subscriptionModels: readonly string[];
  allowPrivateNetwork: boolean;
  /** Surfaces without routes whose calls go to it if no provider is known for their model. */
  defaultFor: readonly SurfaceName[];
  /** Whether it accepts `stream_options`. */
  streamOptions: boolean;
  /** How long its answer may take to begin once it has the request. */
  firstByteMs: number;
  /** Silence allowed between two chunks of its answer. */
  idleMs: number;
  /** Calls that this process has in flight there at most; null or absent: the gateway's own setting. */
  inFlightMax?: number | null;
  /** Globs of the vendor's own paths that callers may use; absent or empty: none. */
  passThrough?: readonly string[];
  enabled: boolean;
};

export type Route = {
  name: string;
  surface: RouteSurface;
  provider: string;
  model: string;
  /** Share of the calls, relative to those fallbacks that have one. */
  weight: number | null;
  fallbacks: readonly { provider: string; model: string; weight?: number }[];
  /** Instead of the provider's, where set. */
  firstByteSeconds: number | null;
  idleSeconds: number | null;
  description: string;
  examples: readonly string[];
  keywords: readonly string[];
  guardrails: readonly string[];
  bodyCapture: boolean;
  subscriptionPassthrough: boolean;
  usageChunk: "withhold" | "pass";
  onClientGone: "drain" | "cancel";
  refuseWith: "block" | "soft_deny";
  /** What a translated call does with a member that changes the answer and has no place in the other format. */
  inexpressible: "refuse" | "drop";
  enabled: boolean;
  createdAtMs: number;
};

/** A price set by an administrator; amounts are exact decimals, as in the table `prices`. */
export type PriceOverride = {
  id: string;
  provider: string | null;
  model: string;
  effectiveFromMs: number;
  /** `standard`, or the provider's name for another service tier. */
  tier: string;
  /** Times the list's price, or in another tier times the standard price, instead of amounts. */
  multiplier: string | null;
  input: string | null;
  output: string | null;
  cachedInput: string | null;
  cacheWrite5m: string | null;
  cacheWrite1h: string | null;
  perImage: string | null;
  perCharacter: string | null;
  perCall: string | null;
};

/** A contract's discount on the list prices of a provider. */
export type Discount = {
  id: string;
  provider: string;
  /** Exact decimal, above 0 and at most 100. */
  percent: string;
  fromMs: number;
  /** Not included; null: no end. */
  toMs: number | null;
  /** Globs; null: all. */
  models: readonly string[] | null;
  /** Null: all. */
  tiers: readonly string[] | null;
};

/** A text search that takes at most `charactersMax` UTF-16 units at once. */
export type TextSearch = {
  charactersMax: number;
  found(text: string): boolean;
  /** Whether a match in a piece of a longer text is still a match given the text around the piece. */
  confirms?(text: string, piece: { from: number; to: number }): boolean;
};

/** An external service that decides whether a call may proceed. */
export type GuardrailCallout = {
  url: string;
  timeoutMs: number;
  onFailure: "open" | "closed";
  allowPrivateNetwork: boolean;
};

/** A rule that refuses calls. It matches if all of its conditions do; null is no condition. */
export type Guardrail = {
  name: string;
  mode: "enforce" | "observe";
  action: "block" | "soft_deny";
  /** Message for the client; null: the default. */
  message: string | null;
  tags: readonly string[] | null;
  /** Ids and names. */
  keys: readonly string[] | null;
  routes: readonly string[] | null;
  clients: readonly string[] | null;
  fitsModel: ((model: string) => boolean) | null;
  pattern: TextSearch | null;
  /** Any match is enough. */
  detect: readonly TextSearch[] | null;
  callout: GuardrailCallout | null;
};

/** A server whose tools the tool gateway offers. */
export type ToolServer = {
  name: string;
  /** Streamable HTTP endpoint. */
  url: string;
  credential: Secret | null;
  /** Header that carries the bare credential; null: `Authorization: Bearer`. */
  credentialHeader: string | null;
  /** Globs of tool names; null: all tools. */
  allow: readonly string[] | null;
  /** Globs; takes precedence over `allow`. */
  deny: readonly string[];
  /** Exact USD for a call of a tool not in `prices`; null: unknown. */
  pricePerCall: string | null;
  /** Exact USD per call, by tool name. */
  prices: Readonly<Record<string, string>>;
  allowPrivateNetwork: boolean;
};

/** A tool that agents with managed hooks must not call. Globs; null: any. */
export type HookPolicy = {
  name: string;
  client: string | null;
  tool: string;
  server: string | null;
  /** Shown to the agent's model and to the user. */
  reason: string;
};

/** In-memory copy of everything that administrators set. Immutable: a change produces a new one. */
/** What a fetched price list has beside the built-in one; `fromMs`: since when calls have its prices, null: all calls. */
export type ListedChange = { provider: string; entry: ModelInfo; fromMs: number | null };

export type Directory = {
  version: number;
  /** By lower-case hex SHA-256 of the secret. */
  keys: ReadonlyMap<string, ClientKey>;
  providers: ReadonlyMap<string, Provider>;
  routes: ReadonlyMap<string, Route>;
  /** Newest `effectiveFromMs` first. */
  prices: readonly PriceOverride[];
  discounts: readonly Discount[];
  listed: readonly ListedChange[];
  /** When it was fetched last; null: never. */
  listFetchedAt: string | null;
  /** Enabled ones, in evaluation order. */
  guardrails: readonly Guardrail[];
  /** Enabled ones by name, sorted by name. */
  toolServers: ReadonlyMap<string, ToolServer>;
  /** Enabled ones, in evaluation order. */
  hookPolicies: readonly HookPolicy[];
  /** Those of routes and tags, which each call decides (limits/key-budgets.ts); most have none. */
  callBudgets: readonly SharedBudget[];
  settings: Settings;
};
