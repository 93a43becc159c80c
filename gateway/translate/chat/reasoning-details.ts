import { isJson, type Json, objectIn, wordOf } from "../exact-json.ts";

/**
 * OpenRouter's `reasoning_details` of one answer: signed pieces of reasoning, which a stream sends in parts by index. They must
 * go back whole and in order (openrouter.ai, "Preserving reasoning blocks"), so they travel as the signature of the thought.
 */
export function detailsCollector(): { add(pieces: readonly Json[]): void; take(): string | null } {
  let details: Record<string, unknown>[] = [];
  return {
    add(pieces) {
      for (const piece of pieces) {
        const before = details.at(-1);
        if (before && before["index"] === piece["index"] && before["type"] === piece["type"])
          grow(before, piece);
        else details.push({ ...piece });
      }
    },
    take() {
      const taken = details;
      details = [];
      return taken.length === 0 ? null : JSON.stringify({ details: taken });
    },
  };
}

const GROWING = ["text", "summary"];

function grow(detail: Record<string, unknown>, piece: Json): void {
  for (const [name, value] of Object.entries(piece)) {
    if (value === null || value === undefined) continue;
    const before = detail[name];
    const grows = GROWING.includes(name) && typeof before === "string";
    detail[name] = grows ? before + wordOf(value) : value;
  }
}

/** The text of pieces, for providers that send it nowhere else. */
export const textOfDetails = (pieces: readonly Json[]): string =>
  pieces.map(({ text, summary }) => wordOf(text ?? summary ?? "")).join("");

/** The pieces in such a signature; a client may have sent anything in its place. */
export function detailsIn(signature: string): Json[] {
  const details = objectIn(signature)?.["details"];
  return Array.isArray(details) ? details.filter(isJson) : [];
}
