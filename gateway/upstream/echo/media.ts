import { countOf, type ProviderObject } from "../../providers/provider-json.ts";
import { echoTokens, jsonAnswer, refusalAnswer, streamAnswer } from "./text.ts";

/** A grey pixel. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNoAAAAggCB2kUIOwAAAABJRU5ErkJggg==";

const IMAGES_MAX = 10;
const PARTIAL_IMAGES_MAX = 3;

/** The built-in provider's images, of one pixel each; a stream has as many partial ones as requested. */
const imagesOf =
  (kind: "image_generation" | "image_edit") =>
  (body: ProviderObject): Response => {
    const n = Math.min(Math.max(countOf(body["n"]) ?? 1, 1), IMAGES_MAX);
    if (body["stream"] === true) return streamAnswer(eventsOf(kind, n, partialImages(body)));
    const image =
      body["response_format"] === "url" ? { url: `data:image/png;base64,${PNG}` } : { b64_json: PNG };
    return jsonAnswer({ created: 0, data: Array.from({ length: n }, () => image) });
  };

export const echoImages = imagesOf("image_generation");
export const echoImageEdits = imagesOf("image_edit");

const partialImages = (body: ProviderObject): number =>
  Math.min(countOf(body["partial_images"]) ?? 0, PARTIAL_IMAGES_MAX);

function eventsOf(kind: string, images: number, partial: number): string {
  const image = {
    created_at: 0,
    b64_json: PNG,
    size: "auto",
    quality: "auto",
    background: "auto",
    output_format: "png",
  };
  const one = [
    ...Array.from({ length: partial }, (_, index) => ({
      type: `${kind}.partial_image`,
      partial_image_index: index,
      ...image,
    })),
    { type: `${kind}.completed`, ...image },
  ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  return one.join("").repeat(images);
}

/** Samples of a second, of 16 bits each, and how long a token sounds. */
const SAMPLES_PER_SECOND = 24_000;
const BYTES_PER_TOKEN = (SAMPLES_PER_SECOND / 20) * 2;
const TOKENS_MAX = 4096;
const WAV_HEAD_BYTES = 44;

const FORMATS = {
  mp3: { type: "audio/mpeg", sound: silentFrames },
  pcm: { type: "audio/pcm", sound: (tokens: number) => Buffer.alloc(tokens * BYTES_PER_TOKEN) },
  wav: { type: "audio/wav", sound: silentWave },
} as const satisfies Record<string, { type: string; sound(tokens: number): Buffer }>;

const isFormat = (name: unknown): name is keyof typeof FORMATS =>
  typeof name === "string" && Object.hasOwn(FORMATS, name);

/** The built-in provider's speech: silence, as long as the text would take. */
export function echoSpeech(body: ProviderObject): Response {
  const format = body["response_format"] ?? "mp3";
  if (!isFormat(format)) {
    return refusalAnswer(`response_format: one of ${Object.keys(FORMATS).join(", ")}.`, "response_format");
  }
  const { type, sound } = FORMATS[format];
  const bytes = sound(Math.min(echoTokens(String(body["input"])), TOKENS_MAX));
  if (body["stream_format"] === "sse") return streamAnswer(soundEvents(bytes));
  return new Response(new Uint8Array(bytes), { headers: { "content-type": type } });
}

/** Speech is priced by the character, so its events report no tokens. */
const soundEvents = (bytes: Buffer): string =>
  [{ type: "speech.audio.delta", audio: bytes.toString("base64") }, { type: "speech.audio.done" }]
    .map((event) => `data: ${JSON.stringify(event)}\n\n`)
    .join("");

/** MPEG-1 layer III at 128 kbit/s and 44.1 kHz: a frame whose side information is all zero is silent. */
function silentFrames(tokens: number): Buffer {
  const frame = Buffer.alloc(417);
  frame.set([0xff, 0xfb, 0x90, 0xc4]);
  return Buffer.concat(Array.from({ length: Math.max(tokens, 1) }, () => frame));
}

function silentWave(tokens: number): Buffer {
  const size = tokens * BYTES_PER_TOKEN;
  const head = Buffer.alloc(WAV_HEAD_BYTES);
  head.write("RIFF", 0);
  head.writeUInt32LE(WAV_HEAD_BYTES - 8 + size, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  // PCM, one channel, its rates, bytes and bits of a sample.
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(SAMPLES_PER_SECOND, 24);
  head.writeUInt32LE(SAMPLES_PER_SECOND * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write("data", 36);
  head.writeUInt32LE(size, 40);
  return Buffer.concat([head, Buffer.alloc(size)]);
}
