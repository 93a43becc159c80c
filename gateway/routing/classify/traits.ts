/** What a text's characters tell of its shape, as bits. Each may be set too often, but is never missing. */
export const TRAITS = {
  any: 1,
  /** A back tick or a tilde. */
  tick: 2,
  /** An underscore, `()`, or a dot before a small letter. */
  code: 4,
  /** A sign of arithmetic. */
  sign: 8,
  /** Eight digits, each at most twelve other characters after the last. */
  digits: 16,
  asked: 32,
  quote: 64,
  /** A bullet or a digit that begins a line other than the first. */
  item: 128,
  /** A capital B as of the second of several choices. */
  choice: 256,
  /** Anything that is not ASCII; letters that are not Latin. */
  foreign: 512,
  far: 1024,
} as const;

const ASCII_END = 0x80;
const DIGITS_MIN = 8;
const DIGITS_GAP_MAX = 12;

/** The traits that a character has wherever it stands, and `any` for those that depend on what comes next. */
const ALONE = new Uint16Array(ASCII_END);
for (const [characters, traits] of [
  ["`~", TRAITS.tick],
  ["_", TRAITS.code],
  ["=+*^/\\", TRAITS.sign],
  ["?", TRAITS.asked],
  ['"', TRAITS.quote],
  [".(B\n0123456789", TRAITS.any],
] as const) {
  for (const character of characters) ALONE[character.charCodeAt(0)] = traits;
}

const [LINE_END, DOT, OPEN, CLOSE, CAPITAL_B] = [0x0a, 0x2e, 0x28, 0x29, 0x42] as const;
const SIGNS = new Set(Array.from("×÷√∑∫π≤≥", (sign) => sign.charCodeAt(0)));
const isDigit = (code: number) => code >= 0x30 && code <= 0x39;
const isSmall = (code: number) => code >= 0x61 && code <= 0x7a;
const isBullet = (code: number) => code === 0x2d || code === 0x2a || code >= ASCII_END || isDigit(code);
const closesChoice = (code: number) => code === DOT || code === CLOSE || code === 0x3a || code >= ASCII_END;
const isFar = (code: number) =>
  code >= 0x370 &&
  (code <= 0x1fff ||
    (code >= 0x3040 && code <= 0x30ff) ||
    (code >= 0x3400 && code <= 0x9fff) ||
    (code >= 0xac00 && code <= 0xd7af));

function foreignTraits(code: number): number {
  return TRAITS.foreign | (isFar(code) ? TRAITS.far : 0) | (SIGNS.has(code) ? TRAITS.sign : 0);
}

/** The first character after blanks; which of those outside ASCII are blanks does not matter. */
function afterBlanks(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) <= 0x20) at++;
  return text.charCodeAt(at);
}

/** What a character says together with those after it. */
function traitsAhead(text: string, at: number, code: number): number {
  if (code === LINE_END) return isBullet(afterBlanks(text, at + 1)) ? TRAITS.item : 0;
  if (code === CAPITAL_B) return closesChoice(afterBlanks(text, at + 1)) ? TRAITS.choice : 0;
  const next = text.charCodeAt(at + 1);
  return (code === DOT && isSmall(next)) || (code === OPEN && next === CLOSE) ? TRAITS.code : 0;
}

/** Reads a text once and tells what it has. */
export function traitsOf(text: string): number {
  let traits: number = TRAITS.any;
  let digits = 0;
  let longest = 0;
  let digitAt = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const alone = code < ASCII_END ? (ALONE[code] as number) : foreignTraits(code);
    if (alone === 0) continue;
    traits |= alone;
    if (alone !== TRAITS.any) continue;
    if (isDigit(code)) {
      digits = at - digitAt <= DIGITS_GAP_MAX + 1 ? digits + 1 : 1;
      digitAt = at;
      longest = Math.max(longest, digits);
    } else traits |= traitsAhead(text, at, code);
  }
  return longest >= DIGITS_MIN ? traits | TRAITS.digits : traits;
}
