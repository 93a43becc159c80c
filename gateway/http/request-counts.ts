import type { Usage } from "#shared/usage.ts";
import type { JsonBody } from "../call.ts";
import type { Reading } from "../reading.ts";
import { type SurfaceFacts, type SurfaceName, surfaceFacts } from "../surface-facts.ts";
import { memberValue } from "./scan.ts";

type Counted = NonNullable<SurfaceFacts["counts"]>;

const COUNTS = {
  characters: (body) => ({ characters: codePoints(memberValue(body, "input")) }),
  documents: (body) => ({ documents: lengthOf(memberValue(body, "documents")) }),
} as const satisfies Record<Counted, (body: JsonBody) => Partial<Usage>>;

/**
 * Adds counts from the request to an answer's reading: code points of the text to speak, which is the final figure
 * because speech is priced by it, or the number of documents to rank.
 */
export function withRequestCounts(
  reading: Reading,
  { surface, body }: { surface: SurfaceName; body: JsonBody },
): Reading {
  const { counts } = surfaceFacts(surface);
  if (!counts) return reading;
  const counted: Partial<Usage> = COUNTS[counts](body);
  const final = counted.characters !== undefined && counted.characters !== null;
  return {
    ...reading,
    usage: { ...reading.usage, ...counted },
    usageSource: reading.usageSource === "none" && final ? "provider" : reading.usageSource,
  };
}

function codePoints(text: unknown): number | null {
  if (typeof text !== "string") return null;
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

const lengthOf = (documents: unknown): number | null => (Array.isArray(documents) ? documents.length : null);
