import { isRecord } from "#shared/json.ts";
import type { Usage } from "#shared/usage.ts";
import type { JsonBody } from "../call.ts";
import type { Reading } from "../reading.ts";
import { type SurfaceFacts, type SurfaceName, surfaceFacts } from "../surface-facts.ts";
import { memberValue } from "./scan.ts";

type Counted = NonNullable<SurfaceFacts["counts"]>;

type Added = Pick<Reading, "variant"> & { counts?: Partial<Usage> };

const COUNTS = {
  characters: (body) => ({ counts: { characters: codePoints(memberValue(body, "input")) } }),
  documents: (body) => ({ counts: { documents: lengthOf(memberValue(body, "documents")) } }),
  search: (body) => searchIn(memberValue(body, "web_search_options")),
  variant: (body) => ({ variant: variantOf(memberValue(body, "size"), memberValue(body, "quality")) }),
} as const satisfies Record<Counted, (body: JsonBody) => Added>;

/**
 * Adds to an answer's reading what only the request says: code points of the text to speak, which is the final figure
 * because speech is priced by it; the number of documents to rank; size and quality of the requested images; or the
 * requested search, which Perplexity bills by.
 */
export function withRequestCounts(
  reading: Reading,
  { surface, body }: { surface: SurfaceName; body: JsonBody },
): Reading {
  const { counts: counted } = surfaceFacts(surface);
  if (!counted || (counted === "search" && !body.members.has("web_search_options"))) return reading;
  const { counts = {}, ...rest }: Added = COUNTS[counted](body);
  const final = counts.characters !== undefined && counts.characters !== null;
  return {
    ...reading,
    ...rest,
    usage: { ...reading.usage, ...counts },
    usageSource: reading.usageSource === "none" && final ? "provider" : reading.usageSource,
  };
}

/** `1024x1792 hd`; `auto` for what the request does not say, null if it says neither. */
function variantOf(size: unknown, quality: unknown): string | null {
  const parts = [size, quality].map((part) => (typeof part === "string" ? part.trim() : ""));
  if (parts.every((part) => part === "")) return null;
  return parts.map((part) => (/^[a-z0-9]{1,32}$/.test(part) ? part : "auto")).join(" ");
}

/** `low`, `high pro`, `low auto`; `auto` for what no vendor's word is. Nothing if the request says neither. */
function searchIn(options: unknown): Added {
  if (!isRecord(options)) return {};
  const [size, type] = [options["search_context_size"] ?? undefined, options["search_type"] ?? undefined];
  if (size === undefined && (type === undefined || type === "fast")) return {};
  const words = [size ?? "low", type === "fast" ? undefined : type].filter((word) => word !== undefined);
  return { variant: words.map(word).join(" ") };
}

const word = (text: unknown): string =>
  typeof text === "string" && /^[a-z]{1,16}$/.test(text) ? text : "auto";

function codePoints(text: unknown): number | null {
  if (typeof text !== "string") return null;
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

const lengthOf = (documents: unknown): number | null => (Array.isArray(documents) ? documents.length : null);
