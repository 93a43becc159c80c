import type { ClientKey, Directory, Provider, Route } from "#gateway/directory.ts";
import { scanJson } from "#gateway/http/scan.ts";
import type { RoutedCall, RoutingLookups } from "#gateway/routing/lookups.ts";
import { SURFACES } from "#gateway/surface-facts.ts";
import { DEFAULT_SETTINGS } from "#shared/settings.ts";

export const provider = (name: string, facts: Partial<Provider> = {}): Provider => ({
  name,
  kind: "openai",
  baseUrl: "https://provider.example/v1",
  credential: null,
  headers: {},
  models: null,
  responses: true,
  trustedForPassthrough: false,
  subscriptionPassthrough: false,
  subscriptionModels: [],
  allowPrivateNetwork: false,
  defaultFor: [],
  streamOptions: true,
  firstByteMs: 600_000,
  idleMs: 300_000,
  enabled: true,
  ...facts,
});

export const route = (name: string, facts: Partial<Route> = {}): Route => ({
  name,
  surface: "chat",
  provider: "p",
  model: `${name}-model`,
  weight: null,
  fallbacks: [],
  firstByteSeconds: null,
  idleSeconds: null,
  description: "",
  examples: [],
  keywords: [],
  guardrails: [],
  bodyCapture: false,
  subscriptionPassthrough: false,
  usageChunk: "withhold",
  onClientGone: "drain",
  refuseWith: "block",
  inexpressible: "refuse",
  enabled: true,
  createdAtMs: 0,
  ...facts,
});

export const key = (scopes: ClientKey["scopes"] = {}): ClientKey => ({
  id: "0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b",
  name: "k",
  owner: null,
  teams: null,
  costCenter: null,
  sharedBudgets: [],
  scopes,
  limits: null,
  expiresAtMs: null,
});

type World = { providers?: Provider[]; routes?: Route[]; defaultRoute?: string };

export const directory = ({ providers = [provider("p")], routes = [], defaultRoute }: World): Directory => ({
  version: 1,
  keys: new Map(),
  providers: new Map(providers.map((it) => [it.name, it])),
  routes: new Map(routes.map((it) => [it.name, it])),
  prices: [],
  discounts: [],
  listed: [],
  listFetchedAt: null,
  guardrails: [],
  toolServers: new Map(),
  hookPolicies: [],
  callBudgets: [],
  settings: { ...DEFAULT_SETTINGS, default_route: defaultRoute ?? DEFAULT_SETTINGS.default_route },
});

export const call = (facts: Partial<RoutedCall> & { hint?: string } = {}): RoutedCall => ({
  surface: "chat.completions",
  key: key(),
  headers: new Headers(facts.hint === undefined ? {} : { "x-task-type": facts.hint }),
  body: scanJson(new TextEncoder().encode("{}")),
  model: null,
  routeMember: null,
  ...facts,
});

/**
 * Knows what `provider:model` lists; a provider whose name begins with `m` speaks messages, `both` both, others chat.
 * Calls are translated for all but those whose name begins with `only`.
 */
export const knowledge = (
  known: string[] = [],
  classify: RoutingLookups["classify"] = null,
): RoutingLookups => ({
  knowsModel: ({ name }, model) => known.includes(`${name}:${model}`),
  supports: ({ name }, surface) =>
    name === "both" || (SURFACES[surface].wire === "messages") === name.startsWith("m"),
  namesModel: ({ name }, model) => model.startsWith(`${name}-of-tomorrow`),
  hasVendor: (model) => model.includes("-of-tomorrow"),
  isVendors: ({ headers }) => headers["x-vendor"] !== undefined,
  isReady: () => true,
  invented: ({ headers }) => headers["x-inventor"] !== undefined,
  translatableWire: ({ name }) =>
    name.startsWith("only") ? null : name.startsWith("m") ? "messages" : "chat",
  classify,
});
