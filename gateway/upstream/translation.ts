import type { Clock } from "#shared/clock.ts";
import type { Call, Choice, HeaderView, Target } from "../call.ts";
import type { Provider, Route } from "../directory.ts";
import type { GatewayError } from "../errors.ts";
import { clientHeaders, type HeaderTable, upstreamHeaders } from "../http/headers.ts";
import type { Meter } from "../metering/meter.ts";
import { sseSplitter } from "../metering/sse.ts";
import { PROVIDERS } from "../providers/catalog.ts";
import { lacksWire, searches, supportsSurface, targetWires, thoughtsOf } from "../providers/endpoint.ts";
import { WIRES } from "../providers/wires.ts";
import type { RoutingLookups } from "../routing/lookups.ts";
import { SURFACES, type SurfaceName, surfaceFacts, type WireName } from "../surface-facts.ts";
import type { Expressed, Pair, Translated } from "../translate/translate.ts";
import { translate, whyInexpressible } from "../translate/translate.ts";
import type { LearnedWires } from "./learned-wires.ts";

/** The surfaces whose calls can be translated, and their formats. */
const CLIENT_FORMATS: Readonly<Partial<Record<string, Pair["from"]>>> = {
  "chat.completions": "chat",
  messages: "messages",
  responses: "responses",
  "responses.compact": "responses",
  generate_content: "gemini",
};

const PROVIDER_SURFACES = {
  chat: "chat.completions",
  messages: "messages",
  gemini: "generate_content",
  responses: "responses",
} as const satisfies Record<Pair["to"], SurfaceName>;

const isProviderWire = (wire: string): wire is Pair["to"] => Object.hasOwn(PROVIDER_SURFACES, wire);

export const isTranslatable = (surface: SurfaceName): boolean => CLIENT_FORMATS[surface] !== undefined;

type Lacks = (provider: Provider, model: string | null, wire: WireName) => boolean;

/** The format of the provider's for the model, if a call of the surface can be translated into it. */
const translatedWire = (lacks: Lacks) => (provider: Provider, surface: SurfaceName, model: string | null) => {
  // Never sent: the gateway answers it.
  if (surfaceFacts(surface).estimated) return PROVIDERS[provider.kind].wire;
  if (!isTranslatable(surface)) return null;
  const fits = (wire: WireName) =>
    isProviderWire(wire) && wire !== SURFACES[surface].wire && !lacks(provider, model, wire);
  return targetWires(provider, model).find(fits) ?? null;
};

/** The wires of models, by the catalogue and by what refusals taught. */
export function wireLookups(learned: LearnedWires | null): WireLookups {
  if (learned === null) return CATALOGUE_ONLY;
  if (known?.learned !== learned) known = { learned, lookups: lookupsOf(learned) };
  return known.lookups;
}

/** Made once: each call asks for them. */
let known: { learned: LearnedWires; lookups: WireLookups } | null = null;

function lookupsOf(learned: LearnedWires | null): WireLookups {
  const lacks: Lacks = (provider, model, wire) =>
    lacksWire(provider.kind, model, wire) || learned?.lacks(provider, model, wire) === true;
  const translatableWire = translatedWire(lacks);
  return {
    translatableWire,
    // A wire that is lacking is still the best where there is no other.
    supports: (provider, surface, model) =>
      supportsSurface(provider, surface) &&
      (!lacks(provider, model, SURFACES[surface].wire) ||
        translatableWire(provider, surface, model) === null),
  };
}

type WireLookups = Pick<RoutingLookups, "supports" | "translatableWire">;

const CATALOGUE_ONLY = lookupsOf(null);

/** A translated call: the provider's surface, the body, and the translation of the answer. */
export type Translation = Translated & { surface: SurfaceName };

/** A target of a choice, and the route that set it. */
type Targeted = { target: Target; route: Pick<Route, "inexpressible"> | null };

/** Translates the call into the target's format; null if that is its own. @throws GatewayError invalid_request */
export function translationOf(
  call: Call,
  it: Targeted & { without: readonly string[] | undefined },
  { clock, learnedWires }: { clock: Clock; learnedWires: LearnedWires },
): Translation | null {
  const expressed = expressedFor(call, it);
  if (!expressed) return null;
  const translated = translate(call.body.bytes, {
    ...expressed,
    createdSeconds: Math.floor(clock.now().getTime() / 1000),
    callId: call.id,
    streamed: call.streamed,
    lacks: [...learnedWires.lackedBy(it.target.provider, expressed.model), ...(it.without ?? [])],
  });
  return { ...translated, surface: PROVIDER_SURFACES[expressed.pair.to] };
}

/** Why the target cannot express the call; null: it can. Cheap for its own format; others read the whole body. */
export function inexpressibleFor(call: Pick<Call, "surface" | "body">, it: Targeted): GatewayError | null {
  const expressed = expressedFor(call, it);
  return expressed && whyInexpressible(call.body.bytes, expressed);
}

/** Null where the target speaks the call's own format. */
function expressedFor({ surface }: Pick<Call, "surface">, { target, route }: Targeted): Expressed | null {
  const { provider, model, wire } = target;
  const from = CLIENT_FORMATS[surface];
  if (wire === SURFACES[surface].wire || from === undefined || !isProviderWire(wire) || model === null) {
    return null;
  }
  return {
    pair: {
      from,
      to: wire,
      compacts: surface === "responses.compact",
      searches: searches(provider.kind, wire),
    },
    model,
    dialect: { ...PROVIDERS[provider.kind], thoughts: thoughtsOf(provider.kind, model) },
    onInexpressible: route?.inexpressible ?? "refuse",
  };
}

/** How many members of the request a translation left out. */
export function droppedIn({ dropped }: Translation): number {
  let sum = 0;
  for (const count of dropped.values()) sum += count;
  return sum;
}

/** Names in the header: enough for any call of a real client. */
const NAMES_MAX = 20;

/** `x-gateway-dropped`: how many members were left out, and which (RFC 9651), such as `3;seed;messages.name=2`. */
function droppedHeader(translation: Translation): HeaderTable {
  const names = [...translation.dropped].slice(0, NAMES_MAX);
  if (names.length === 0) return {};
  const named = names.map(([path, count]) => `;${path.toLowerCase()}${count === 1 ? "" : `=${count}`}`);
  return { "x-gateway-dropped": droppedIn(translation) + named.join("") };
}

/** Client headers that do not depend on a format. Translated bodies use the default API version. */
const NEUTRAL_HEADERS = ["accept", "idempotency-key", "user-agent"] as const;

/** The headers of a translated call: headers meant for the client's own vendor are dropped. */
export function translatedHeaders(from: HeaderView, wire: WireName): HeaderTable {
  const neutral = new Headers({ "content-type": "application/json" });
  for (const name of NEUTRAL_HEADERS) {
    const value = from.get(name);
    if (value !== null) neutral.set(name, value);
  }
  return upstreamHeaders(neutral, wire);
}

const encoder = new TextEncoder();

/**
 * A meter that reads the provider's bytes and returns the translated ones. The client is shown the metered counts.
 */
export function translatingMeter(meter: Meter, translation: Translation): Meter {
  const splitter = sseSplitter();
  const translator = translation.stream(() => meter.reading(false).usage);
  const bytesOf = (text: string) => (text === "" ? null : encoder.encode(text));
  return {
    ...meter,
    watch(chunk) {
      meter.watch(chunk);
      return bytesOf(
        splitter
          .push(chunk)
          .map(({ data }) => translator.event(data))
          .join(""),
      );
    },
    rest() {
      meter.rest();
      const last = splitter.end();
      return bytesOf((last ? translator.event(last.data) : "") + translator.end());
    },
  };
}

/** The headers of a translated answer: its own content type and framing, and the provider's request id. */
export function translatedAnswerHeaders(
  from: HeaderView,
  it: { surface: SurfaceName; translation: Translation },
  contentType: string,
): HeaderTable {
  const { requestIdHeader } = WIRES[SURFACES[it.surface].wire];
  const { "content-encoding": _, ...headers } = clientHeaders(from);
  const id = headers["x-request-id"] ?? headers["request-id"];
  headers["content-type"] = contentType;
  Object.assign(headers, droppedHeader(it.translation));
  if (id !== undefined) headers[requestIdHeader] = id;
  return headers;
}

/** The provider's request id, in either vendor's header. */
export const providerRequestId = (headers: HeaderView): string | null =>
  headers.get("x-request-id") ?? headers.get("request-id");

/**
 * The choice without the targets that cannot express the call: a fallback must not turn a provider's refusal into one
 * that says that the call is wrong (decision: Fallbacks only before the first byte). If none can, the first is left, and
 * refuses when it is called.
 */
export function withExpressibleTargets(call: Call, choice: Choice): Choice {
  if (choice.targets.length === 1) return choice;
  const { route } = choice;
  const [first, ...rest] = choice.targets.filter(
    (target) => inexpressibleFor(call, { target, route }) === null,
  );
  return { ...choice, targets: first ? [first, ...rest] : [choice.targets[0]] };
}
