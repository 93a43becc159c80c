import { streamMeter } from "#gateway/metering/meter.ts";
import { PROVIDERS, type ProviderKind } from "#gateway/providers/catalog.ts";
import { thoughtsOf } from "#gateway/providers/endpoint.ts";
import { WIRES } from "#gateway/providers/wires.ts";
import { type Pair, type TranslationInput, translate } from "#gateway/translate/translate.ts";
import { translatingMeter } from "#gateway/upstream/translation.ts";

/** A fixture: a call in one format and what it is in another, on the way there and on the way back. */
export type Golden = {
  pair: Pair;
  model: string;
  request: object;
  sent: object;
  answer?: object;
  answered?: object;
  /** The provider's stream: the data of its events, in order. */
  events?: (object | "[DONE]")[];
  /** The client's. */
  streamed?: StreamEvent[];
};

export type StreamEvent = { event?: string; data: unknown };

export const bytesOf = (value: unknown): Uint8Array<ArrayBuffer> =>
  new TextEncoder().encode(JSON.stringify(value));

export const jsonOf = (bytes: Uint8Array | null): unknown =>
  bytes && JSON.parse(new TextDecoder().decode(bytes));

const KINDS = {
  chat: "openai",
  messages: "anthropic",
  gemini: "gemini",
  responses: "openai",
} as const satisfies Record<Pair["to"], string>;

const SURFACES = {
  chat: "chat.completions",
  messages: "messages",
  gemini: "generate_content",
  responses: "responses",
} as const;

const factsOf = (pair: Pair) => PROVIDERS[KINDS[pair.to]];

export const translation = (
  pair: Pair,
  request: object | Uint8Array,
  {
    model = { chat: "gpt-5", messages: "claude-opus-4-6", gemini: "gemini-3-pro", responses: "gpt-5" }[
      pair.to
    ],
    onInexpressible = "refuse",
    kind = KINDS[pair.to],
  }: Partial<Pick<TranslationInput, "model" | "onInexpressible"> & { kind: ProviderKind }> = {},
) => ({
  ...translate(request instanceof Uint8Array ? request : bytesOf(request), {
    pair,
    model,
    dialect: { ...PROVIDERS[kind], thoughts: thoughtsOf(kind, model) },
    onInexpressible,
    createdSeconds: 1_700_000_000,
    callId: "0199-call",
  }),
  surface: SURFACES[pair.to],
});

/** The provider's events as it would send them. */
export const sseOf = (events: readonly (object | string)[]): string =>
  events
    .map((data) => {
      if (typeof data === "string") return `data: ${data}\n\n`;
      const { type } = data as { type?: string };
      return `${type === undefined ? "" : `event: ${type}\n`}data: ${JSON.stringify(data)}\n\n`;
    })
    .join("");

/** What a client gets of a stream that comes in these pieces, through the very meter that the gateway uses. */
export function relayed(
  pair: Pair,
  translated: ReturnType<typeof translation>,
  pieces: readonly Uint8Array[],
): string {
  const meter = translatingMeter(
    streamMeter(WIRES[pair.to], factsOf(pair), { withholdUsage: false }),
    translated,
  );
  const out = [...pieces.map((piece) => meter.watch(piece)), meter.rest()];
  return out.map((bytes) => (bytes ? new TextDecoder().decode(bytes) : "")).join("");
}

export const eventsIn = (sse: string): StreamEvent[] =>
  sse
    .split("\n\n")
    .filter((block) => block !== "")
    .map((block) => {
      // A line of an event ends at a line feed only: not at U+2028, which JSON leaves as it is.
      const line = (name: string) =>
        block
          .split("\n")
          .find((one) => one.startsWith(name))
          ?.slice(name.length);
      const event = line("event: ");
      const data = line("data: ") ?? "";
      return { ...(event === undefined ? {} : { event }), data: data === "[DONE]" ? data : JSON.parse(data) };
    });

/** What the whole way makes of the inputs of a fixture. */
export function translatedGolden(golden: Golden): Pick<Golden, "sent" | "answered" | "streamed"> {
  const translated = translation(golden.pair, golden.request, golden);
  const { answer, events } = golden;
  const reading = answer && WIRES[golden.pair.to].readAnswer(bytesOf(answer), factsOf(golden.pair));
  return {
    sent: jsonOf(translated.body) as object,
    ...(reading ? { answered: jsonOf(translated.answer(bytesOf(answer), reading.usage)) as object } : {}),
    ...(events
      ? { streamed: eventsIn(relayed(golden.pair, translated, [new TextEncoder().encode(sseOf(events))])) }
      : {}),
  };
}
