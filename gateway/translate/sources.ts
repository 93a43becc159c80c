import { type BodyPlace, inexpressible, malformed } from "./place.ts";
import type { ContentSource } from "./prompt.ts";

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)((?:;[\w=.+-]+)*),/i;

/** A `data:` URL's bytes, or the address. @throws GatewayError invalid_request: not base64, or not of the web. */
export function sourceOfUrl(url: string, at: BodyPlace): ContentSource {
  const head = DATA_URL.exec(url.slice(0, 200));
  if (head) {
    const [whole, mediaType = "", parameters = ""] = head;
    if (!/;base64$/i.test(parameters)) throw malformed(at, "a data URL in base64");
    return { kind: "data", mediaType: mediaType.toLowerCase(), data: url.slice(whole.length) };
  }
  if (!/^https?:\/\//i.test(url)) throw malformed(at, "an http(s) or data URL");
  return { kind: "url", url };
}

export function urlOfSource(source: ContentSource, at: BodyPlace): string {
  if (source.kind === "url") return source.url;
  if (source.kind === "data") return `data:${source.mediaType};base64,${source.data}`;
  throw inexpressible(at);
}

/** Names of OpenAI's for formats of sound, where they differ from those of media types. */
const SOUNDS = new Map([
  ["mpeg", "mp3"],
  ["x-wav", "wav"],
  ["wave", "wav"],
]);

/** The format of sound in a source; null for any other. */
export function soundIn(source: ContentSource): { data: string; format: string } | null {
  if (source.kind !== "data" || !source.mediaType.startsWith("audio/")) return null;
  const name = source.mediaType.slice("audio/".length);
  return { data: source.data, format: SOUNDS.get(name) ?? name };
}

export const titledText = (title: string | null, text: string): string =>
  title === null ? text : `${title}\n\n${text}`;
