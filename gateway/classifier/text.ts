/** How many characters are kept of a long text's beginning and end. */
type Extent = { head: number; tail: number };
/** All later work is bounded by this. */
const READ: Extent = { head: 1500, tail: 500 };
/** The instruction zone: where people write what they want done, before or after the material. */
const ZONE_HEAD_CHARACTERS = 160;
const ZONE_TAIL_CHARACTERS = 100;
/** A separator this early is part of a greeting or a title, not the end of the instruction. */
const INSTRUCTION_MIN_CHARACTERS = 24;

/** Where material begins: a blank line, a fence, a quoted block, or a line that ends in a colon. */
const MATERIAL = /\n\s*\n|```|"""|'''|[:：]\s*\n/g;

const NON_ASCII = /[^\0-\x7f]/;

/** A text as the classifier reads it: at most 2,000 characters, normalised, and the parts that carry the instruction. */
export type ReadText = { raw: string; full: string; zone: string };

/** Cuts a text to its first 1,500 and last 500 characters (or another extent), a line end between them. */
export function clip(text: string, { head, tail }: Extent = READ): string {
  if (text.length <= head + tail + 1) return text;
  return `${text.slice(0, head)}\n${text.slice(-tail)}`;
}

/** Compatibility forms folded (NFKC), lower case, every run of digits one `0`. Line ends stay. */
export function normalise(text: string): string {
  if (!NON_ASCII.test(text)) return text.toLowerCase().replace(/\d+/g, "0");
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/\p{Nd}+/gu, "0");
}

function headOf(text: string): string {
  MATERIAL.lastIndex = INSTRUCTION_MIN_CHARACTERS;
  const material = MATERIAL.exec(text);
  const end = Math.min(material?.index ?? text.length, ZONE_HEAD_CHARACTERS);
  return text.slice(0, end);
}

/**
 * Finds the instruction zone of a normalised text: its first 160 characters, cut where material begins, and its
 * last 100 where the text is longer than that. The two are set apart by a line end.
 */
export function zoneOf(text: string): string {
  const trimmed = text.trim();
  if (trimmed.length <= ZONE_HEAD_CHARACTERS + ZONE_TAIL_CHARACTERS && !MATERIAL_TEST.test(trimmed))
    return trimmed;
  const head = headOf(trimmed);
  const tail = trimmed.slice(Math.max(head.length, trimmed.length - ZONE_TAIL_CHARACTERS));
  return `${head}\n${tail}`;
}
const MATERIAL_TEST = new RegExp(MATERIAL.source);

/** Reads a text for the classifier. The cost is bounded whatever its length. */
export function readText(text: string): ReadText {
  const raw = clip(text);
  // Clipped again: a single character can fold to eighteen.
  const full = clip(normalise(raw));
  return { raw, full, zone: zoneOf(full) };
}
