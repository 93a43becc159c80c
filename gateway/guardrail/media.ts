import { words } from "#shared/words.ts";

/** Parts of messages that carry media (OpenAI's, Anthropic's and Google's names), by their `type`. */
const MEDIA_PARTS = new Set(
  words(`
  audio computer_screenshot document file image image_generation_call image_url input_audio input_file
  input_image video video_url
`),
);
/** Top-level members that carry media, and members that wrap the media of a part. */
const MEDIA_LISTS = new Set(["image", "images", "input_reference", "mask"]);
const WRAPPERS = new Set(["audio", "file", "image_url", "input_audio", "source", "video_url"]);
/** Google's parts have no `type`: these members hold the media and its type. */
const INLINE = new Set(["inlineData", "inline_data"]);
/** Members that may be the media itself. */
const CONTENTS = new Set<string>(words("b64_json data file_data image image_url images mask result url"));

const MEDIA_TYPE =
  /^(?:image\/(?:png|jpe?g|gif|webp|heic|heif|avif|bmp|tiff)|audio\/[\w.+-]+|video\/[\w.+-]+|application\/(?:pdf|msword|epub\+zip|vnd\.ms-[\w.-]+|vnd\.openxmlformats-officedocument\.[\w.-]+))$/i;
const AUDIO_FORMATS = new Set(["aac", "aiff", "flac", "m4a", "mp3", "ogg", "opus", "pcm16", "wav", "webm"]);
const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)?((?:;[\w.+=-]+)*);base64,/i;
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

const isIn = (names: ReadonlySet<string>, value: unknown): boolean =>
  typeof value === "string" && names.has(value);

const memberOf = (holder: object, name: string): unknown =>
  Object.hasOwn(holder, name) ? Reflect.get(holder, name) : undefined;

/** Whether an object is a part that carries media, or wraps the media of one. */
export const isMediaHolder = (holder: object, it: { name: string; within: boolean; top: boolean }): boolean =>
  isIn(MEDIA_PARTS, memberOf(holder, "type")) ||
  INLINE.has(it.name) ||
  (it.within && (WRAPPERS.has(it.name) || MEDIA_LISTS.has(it.name))) ||
  (it.top && MEDIA_LISTS.has(it.name));

/** The role of a member in a part that carries media. */
export type MediaText =
  /** Bytes of a known media type: no text for a model. */
  | "media"
  /** Anything else; `decoded` is the text that its base64 contains. */
  | { decoded: string | null };

export function mediaText(holder: object, name: string, text: string): MediaText {
  if (!CONTENTS.has(name)) return { decoded: null };
  const [prefix = "", type = declaredType(holder, name)] = DATA_URL.exec(text) ?? [];
  const content = text.slice(prefix.length);
  if (!BASE64.test(content)) return { decoded: null };
  if (type !== null && MEDIA_TYPE.test(type)) return "media";
  return { decoded: textIn(content) };
}

/** The media type that a part declares beside its base64. */
function declaredType(holder: object, name: string): string | null {
  const [declared = null] = ["media_type", "mime_type", "mimeType"]
    .map((member) => memberOf(holder, member))
    .filter((value) => typeof value === "string");
  if (declared !== null) return declared;
  if (name === "data" && isIn(AUDIO_FORMATS, memberOf(holder, "format"))) return "audio/any";
  return name === "result" && memberOf(holder, "type") === "image_generation_call" ? "image/png" : null;
}

const STRICT = new TextDecoder("utf-8", { fatal: true });

/** The text that base64 contains, such as a document's; null if it is no text. */
function textIn(base64: string): string | null {
  try {
    return STRICT.decode(Buffer.from(base64, "base64"));
  } catch {
    return null;
  }
}
