import type { KeyLimits, KeyScopes } from "#drizzle/schema/keys.ts";
import type { RouteSurface } from "#drizzle/schema/routes.ts";
import type { Settings } from "#shared/settings.ts";
import type { ProviderKind } from "./providers/catalog.ts";

/** A credential in memory. It prints as `[secret]` wherever it is not asked for by name. */
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

/** A client key as the hot path needs it. */
export type ClientKey = {
  id: string;
  name: string;
  owner: string | null;
  scopes: KeyScopes;
  limits: KeyLimits | null;
  /** Milliseconds since 1970, or null for never; already the earlier of key's and secret's. */
  expiresAtMs: number | null;
};

export type Provider = {
  name: string;
  kind: ProviderKind;
  /** API root without a trailing slash. */
  baseUrl: string;
  credential: Secret | null;
  headers: Readonly<Record<string, string>>;
  /** Globs of the models it serves; null where the administrator named none. */
  models: readonly string[] | null;
  responses: boolean;
  trustedForPassthrough: boolean;
  allowPrivateNetwork: boolean;
  enabled: boolean;
};

export type Route = {
  name: string;
  surface: RouteSurface;
  provider: string;
  model: string;
  fallbacks: readonly { provider: string; model: string }[];
  description: string;
  examples: readonly string[];
  keywords: readonly string[];
  guardrails: readonly string[];
  bodyCapture: boolean;
  subscriptionPassthrough: boolean;
  usageChunk: "withhold" | "pass";
  onClientGone: "drain" | "cancel";
  refuseWith: "block" | "soft_deny";
  enabled: boolean;
  createdAtMs: number;
};

/** An administrator's price; amounts are exact decimals, as in the table `prices`. */
export type PriceOverride = {
  id: string;
  provider: string | null;
  model: string;
  effectiveFromMs: number;
  input: string;
  output: string;
  cachedInput: string | null;
  cacheWrite5m: string | null;
  cacheWrite1h: string | null;
  perImage: string | null;
  perCharacter: string | null;
  perCall: string | null;
};

/** Looks for something in a text: at most `charactersMax` UTF-16 units at once. */
export type TextSearch = {
  charactersMax: number;
  found(text: string): boolean;
  /** Whether what was found in a piece of a longer text is still there when one sees what stands around the piece. */
  confirms?(text: string, piece: { from: number; to: number }): boolean;
};

/** A service that is asked whether a call may go on. */
export type GuardrailCallout = {
  url: string;
  timeoutMs: number;
  onFailure: "open" | "closed";
  allowPrivateNetwork: boolean;
};

/** A rule that refuses calls. Of what it asks for all must hold; null asks for nothing. */
export type Guardrail = {
  name: string;
  mode: "enforce" | "observe";
  action: "block" | "soft_deny";
  /** What the client is told; null: the product's own sentence. */
  message: string | null;
  tags: readonly string[] | null;
  /** Ids and names. */
  keys: readonly string[] | null;
  routes: readonly string[] | null;
  clients: readonly string[] | null;
  fitsModel: ((model: string) => boolean) | null;
  pattern: TextSearch | null;
  /** One of them is enough. */
  detect: readonly TextSearch[] | null;
  callout: GuardrailCallout | null;
};

/** A server whose tools the tool gateway offers. */
export type ToolServer = {
  name: string;
  /** Its address for streamable HTTP. */
  url: string;
  credential: Secret | null;
  /** Carries the credential as it stands; null: `Authorization: Bearer`. */
  credentialHeader: string | null;
  /** Globs of tools' own names; null is all that it has. */
  allow: readonly string[] | null;
  /** Stronger than `allow`. */
  deny: readonly string[];
  /** Exact USD for a call of any tool that `prices` does not name; null is unknown. */
  pricePerCall: string | null;
  /** Exact USD by tool. */
  prices: Readonly<Record<string, string>>;
  allowPrivateNetwork: boolean;
};

/** A tool that agents with managed hooks are told not to call. Globs; null is any. */
export type HookPolicy = {
  name: string;
  client: string | null;
  tool: string;
  server: string | null;
  /** Shown to the agent's model and to the user. */
  reason: string;
};

/** All that administrators set, read from Postgres into memory. Never changed in place: a change makes a new one. */
export type Directory = {
  version: number;
  /** By lower-case hex SHA-256 of the secret. */
  keys: ReadonlyMap<string, ClientKey>;
  providers: ReadonlyMap<string, Provider>;
  routes: ReadonlyMap<string, Route>;
  /** Newest `effectiveFromMs` first. */
  prices: readonly PriceOverride[];
  /** Those that are switched on, in the order in which they are tried. */
  guardrails: readonly Guardrail[];
  /** Those that are switched on, by name and in the order of their names. */
  toolServers: ReadonlyMap<string, ToolServer>;
  /** Those that are switched on, in the order in which they are tried. */
  hookPolicies: readonly HookPolicy[];
  settings: Settings;
};
