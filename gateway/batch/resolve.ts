import type { Clock } from "#shared/clock.ts";
import type { JsonBody, Target } from "../call.ts";
import type { ClientKey, Provider } from "../directory.ts";
import { GatewayError, refuse } from "../errors.ts";
import { requireOwnReferences, routingLookups } from "../exchange.ts";
import { evaluateGuardrails, type GuardrailInput, type GuardrailVerdict } from "../guardrail/evaluate.ts";
import { pace } from "../guardrail/pace.ts";
import { additionalModels } from "../http/additional-models.ts";
import { CALL } from "../http/deciding-names.ts";
import { readLabels } from "../http/labels.ts";
import { allOf, type References, referencesIn } from "../http/references.ts";
import { scanJson, stringMember } from "../http/scan.ts";
import { splice } from "../http/splice.ts";
import { isBudgeted } from "../limits/key-budgets.ts";
import type { Pico } from "../limits/money.ts";
import type { PriceBook } from "../pricing/price-book.ts";
import { isPricedFor } from "../pricing/priced-for.ts";
import { PROVIDERS } from "../providers/catalog.ts";
import type { ProviderFacts } from "../providers/provider-facts.ts";
import { chooseRoute } from "../routing/choose.ts";
import { requireScope } from "../routing/scope.ts";
import { SURFACES, type SurfaceName, surfaceFacts } from "../surface-facts.ts";
import { bodyTexts } from "../upstream/body-texts.ts";
import { demandOf } from "../upstream/reservation.ts";
import type { BatchDeps } from "./deps.ts";

type BatchRequests = {
  provider: Provider | null;
  routes: Set<string>;
  models: Set<string>;
  /** Some requests name models that no route covers. */
  direct: boolean;
  requests: number;
  /** The most that they may cost together. Null: the key has no budget, so it is not computed. */
  bound: Pico | null;
  /** Some are for models without a price. */
  unpriced: boolean;
};

export type Resolver = {
  summary: BatchRequests;
  /**
   * Evaluates the guardrails for all requests resolved since the last call, and whether they refer to what another key
   * made; none of them may be forwarded before.
   * @throws GatewayError not_found; guardrail_blocked: refuses the whole batch, because no one reads a synthetic answer
   * in it.
   */
  evaluate(): Promise<void>;
  /**
   * A request's body for the provider: `auto` and route names are resolved, `route` is removed.
   * @throws GatewayError as an interactive call would; invalid_request if it goes to another provider than the requests
   * before it, or would need translation.
   */
  resolve(surface: SurfaceName, body: Uint8Array): Uint8Array;
};

/** Maximum number of routes, and of models, per batch. */
const NAMES_MAX = 100;

type ResolverDeps = Pick<
  BatchDeps,
  "clock" | "directory" | "prices" | "classify" | "consult" | "guardrailTriggered" | "refersToForeign"
>;

/** Resolves the requests of a batch one by one and checks each against the key's scopes. */
export function batchResolver(deps: ResolverDeps, key: ClientKey, headers: Headers): Resolver {
  const directory = deps.directory.current();
  const prices = deps.prices();
  const lookups = routingLookups(prices, deps);
  const labels = readLabels(headers, null);
  const bound = requestBound(prices, deps.clock);
  const summary: BatchRequests = {
    bound: isBudgeted(key) || directory.callBudgets.length > 0 ? 0n : null,
    unpriced: false,
    provider: null,
    routes: new Set(),
    models: new Set(),
    direct: false,
    requests: 0,
  };
  let unevaluated: { input: GuardrailInput; references: References }[] = [];
  return {
    summary,
    async evaluate() {
      const tools = { pace: pace(deps.clock), consult: deps.consult };
      const batch = unevaluated;
      unevaluated = [];
      await requireOwnReferences(deps, key.id, allOf(batch.map(({ references }) => references)));
      for (const { input } of batch) {
        requirePass(deps, await evaluateGuardrails(directory.guardrails, input, tools));
      }
    },
    resolve(surface, bytes) {
      const body = scanJson(bytes, CALL);
      const call = {
        surface,
        key,
        headers: new Headers(),
        body,
        model: stringMember(body, "model"),
        routeMember: stringMember(body, "route"),
      };
      const choice = chooseRoute(directory, call, lookups);
      requireScope(key, choice, () => additionalModels(body));
      const [{ provider, model, wire }] = choice.targets;
      requireBatchable(summary.provider, provider, wire === SURFACES[surface].wire);
      if (summary.bound !== null) {
        const { usd, unpriced } = bound(surface, body, choice.targets[0]);
        summary.bound += usd;
        summary.unpriced ||= unpriced;
      }
      const input = { key, labels, choice, ...bodyTexts(body) };
      unevaluated.push({ input, references: referencesIn(body) });
      summary.provider = provider;
      summary.requests += 1;
      if (choice.route) summary.routes.add(choice.route.name);
      else summary.direct = true;
      if (model !== null) summary.models.add(model);
      if (summary.routes.size > NAMES_MAX || summary.models.size > NAMES_MAX)
        refuse(`A batch may name ${NAMES_MAX} models at most.`);
      return splice(body, model === null ? {} : { model });
    },
  };
}

/** The most that a request of a batch may cost: at the prices of interactive calls, whatever tier it asks for. */
const requestBound =
  (prices: PriceBook, clock: Clock) =>
  (surface: SurfaceName, body: JsonBody, target: Target): { usd: Pico; unpriced: boolean } => {
    const { provider, model } = target;
    const atMs = clock.now().getTime();
    const costs = !surfaceFacts(surface).free;
    const { usd } = demandOf({ surface, body, targets: [target] }, { prices, atMs, costs, tiers: false });
    const price = model === null ? null : prices.priceOf(provider, model, atMs);
    return { usd, unpriced: costs && !isPricedFor(surface, price) };
  };

function requirePass({ guardrailTriggered }: ResolverDeps, verdict: GuardrailVerdict): void {
  for (const rule of verdict.observed) guardrailTriggered(rule, "observed");
  if (verdict.kind === "pass") return;
  guardrailTriggered(verdict.rule, "block");
  throw new GatewayError("guardrail_blocked", verdict.message ?? undefined);
}

function requireBatchable(before: Provider | null, provider: Provider, native: boolean): void {
  const { auth }: ProviderFacts = PROVIDERS[provider.kind];
  // Clouds have their batches elsewhere.
  if (auth === "aws" || auth === "google" || provider.kind === "echo")
    refuse("The model's provider does not accept batches.");
  if (!native) refuse("The model's provider does not speak this format.");
  if (before !== null && before.name !== provider.name)
    refuse("All requests of a batch must go to one provider.");
}

/** The surfaces allowed in a file of requests, by URL path. */
const LINE_SURFACES: ReadonlyMap<string, SurfaceName> = new Map(
  (
    [
      "chat.completions",
      "responses",
      "embeddings",
      "moderations",
      "images.generations",
    ] as const satisfies SurfaceName[]
  ).map((surface) => [surfaceFacts(surface).path, surface]),
);

/** The surface of a line's `url`, which Azure's clients write without `/v1`. */
export const lineSurface = (url: unknown): SurfaceName | null =>
  (typeof url === "string" ? LINE_SURFACES.get(url.replace(/^(?!\/v1\/)/, "/v1")) : undefined) ?? null;

export const lineEndpoints = (): string => [...LINE_SURFACES.keys()].join(", ");

/** Scopes may have narrowed since the file was checked. @throws GatewayError route_not_allowed, model_not_allowed */
export function requireScopeStill(
  { scopes }: ClientKey,
  { routes, models, direct }: { routes: readonly string[]; models: readonly string[]; direct: boolean },
): void {
  const { routes: allowed, models: allowedModels } = scopes;
  if (allowed && (direct || !routes.every((route) => allowed.includes(route)))) {
    throw new GatewayError("route_not_allowed");
  }
  if (allowedModels && !models.every((model) => allowedModels.includes(model))) {
    throw new GatewayError("model_not_allowed");
  }
}
