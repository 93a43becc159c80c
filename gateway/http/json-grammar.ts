import type { Member } from "../call.ts";
import { GatewayError } from "../errors.ts";

/** Deepest nesting of objects and arrays in a body; the body itself is level 1. */
export const DEPTH_MAX = 128;

const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
export const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** JSON literals by first byte. */
const WORDS: Readonly<Record<number, Uint8Array>> = {
  102: new TextEncoder().encode("false"),
  110: new TextEncoder().encode("null"),
  116: new TextEncoder().encode("true"),
};

/** 1 for bytes that interrupt a plain string: control characters, quote, backslash. */
const STOPS_STRING = new Uint8Array(256).fill(1, 0, 0x20).fill(1, QUOTE, QUOTE + 1);
STOPS_STRING[BACKSLASH] = 1;

/** 1 for bytes that may follow a backslash; `u` is handled separately. */
const ESCAPES = new Uint8Array(256);
for (const letter of '"\\/bfnrt') ESCAPES[letter.charCodeAt(0)] = 1;
const ESCAPE_U = 0x75;

function fault(bytes: Uint8Array, at: number): GatewayError {
  const what = at >= bytes.length ? "it ends too early" : `unexpected byte at offset ${at}`;
  return new GatewayError("invalid_request", `The body is not valid JSON: ${what}.`);
}

/** JSON's white space: space, tab, line feed, carriage return. */
export const isWhitespace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

export function skipWhitespace(bytes: Uint8Array, at: number): number {
  let next = at;
  while (isWhitespace(bytes[next])) next++;
  return next;
}

/**
 * The offset after the value at `at`, which is validated against RFC 8259. `level` is the nesting depth there.
 * @throws GatewayError invalid_request with an offset, never quoting the body.
 */
function skipValue(bytes: Uint8Array, at: number, level: number): number {
  switch (bytes[at]) {
    case QUOTE:
      return skipString(bytes, at);
    case OPEN_BRACE:
      return skipObject(bytes, at, level);
    case OPEN_BRACKET:
      return skipArray(bytes, at, level);
    case 0x66:
    case 0x6e:
    case 0x74:
      return skipWord(bytes, at);
    default:
      return skipNumber(bytes, at);
  }
}

/** 0 for a plain string byte at `at`; the end of the body also stops a string. */
const stopAt = (bytes: Uint8Array, at: number): number => STOPS_STRING[bytes[at] ?? 0] ?? 1;

/**
 * The next offset that stops a string. Most bytes of a body are skipped here, four per step, which is twice as fast on
 * long texts and no slower on short ones (test/bench/scan.ts).
 */
function skipPlain(bytes: Uint8Array, at: number): number {
  let next = at;
  const last = bytes.length - 4;
  while (
    next <= last &&
    (stopAt(bytes, next) | stopAt(bytes, next + 1) | stopAt(bytes, next + 2) | stopAt(bytes, next + 3)) === 0
  ) {
    next += 4;
  }
  while (stopAt(bytes, next) === 0) next++;
  return next;
}

/** The offset after the string whose opening quote is at `at`. */
export function skipString(bytes: Uint8Array, at: number): number {
  let next = at + 1;
  for (;;) {
    next = skipPlain(bytes, skipEscapes(bytes, next));
    const stop = bytes[next];
    if (stop === QUOTE) return next + 1;
    if (stop !== BACKSLASH) throw fault(bytes, next);
    next = skipEscape(bytes, next);
  }
}

/** Skips runs of two-byte escapes, as in text that was escaped twice. */
function skipEscapes(bytes: Uint8Array, at: number): number {
  let next = at;
  while (bytes[next] === BACKSLASH && ESCAPES[bytes[next + 1] ?? 0] === 1) next += 2;
  return next;
}

function skipEscape(bytes: Uint8Array, at: number): number {
  const kind = bytes[at + 1];
  if (kind !== ESCAPE_U) {
    if (ESCAPES[kind ?? 0] !== 1) throw fault(bytes, at + 1);
    return at + 2;
  }
  for (let next = at + 2; next < at + 6; next++) {
    if (!isHexDigit(bytes[next])) throw fault(bytes, next);
  }
  return at + 6;
}

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39;

function isHexDigit(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  const lower = byte | 0x20;
  return isDigit(byte) || (lower >= 0x61 && lower <= 0x66);
}

/** Reads the members of one object while it is skipped. */
export type Visit = {
  level: number;
  /** Called at each key, before its value; returns what reads the objects in that value, if anything does. */
  key?(start: number, end: number): Within | null;
  member(member: Member): void;
  /** Called after the last member; not for a visit that `skipObject` was given. */
  end?(): void;
};

export type Within = (level: number) => Visit;

const levelOf = (nesting: number | { level: number }): number =>
  typeof nesting === "number" ? nesting : nesting.level;

/**
 * The offset after the object whose brace is at `at`. `nesting` is its level, or what reads its own members in order.
 * @throws GatewayError invalid_request
 */
export function skipObject(bytes: Uint8Array, at: number, nesting: number | Visit): number {
  const visit = typeof nesting === "number" ? null : nesting;
  const level = levelOf(nesting);
  if (level > DEPTH_MAX) throw tooDeep();
  let next = skipWhitespace(bytes, at + 1);
  if (bytes[next] === CLOSE_BRACE) return next + 1;
  for (;;) {
    const keyStart = next;
    if (bytes[keyStart] !== QUOTE) throw fault(bytes, keyStart);
    const keyEnd = skipString(bytes, keyStart);
    const colon = skipWhitespace(bytes, keyEnd);
    if (bytes[colon] !== COLON) throw fault(bytes, colon);
    const valueStart = skipWhitespace(bytes, colon + 1);
    const within = visit?.key?.(keyStart, keyEnd) ?? null;
    const valueEnd = within
      ? skipWithin(bytes, valueStart, { level: level + 1, within })
      : skipValue(bytes, valueStart, level + 1);
    visit?.member({ keyStart, valueStart, valueEnd });
    next = skipWhitespace(bytes, valueEnd);
    if (bytes[next] === CLOSE_BRACE) return next + 1;
    if (bytes[next] !== COMMA) throw fault(bytes, next);
    next = skipWhitespace(bytes, next + 1);
  }
}

/** The level of a value, with what reads the objects in it. */
type Inner = { level: number; within: Within };

function skipVisited(bytes: Uint8Array, at: number, visit: Visit): number {
  const end = skipObject(bytes, at, visit);
  visit.end?.();
  return end;
}

/** Skips a value and visits its object, or the objects of its list and of lists in that. */
export function skipWithin(bytes: Uint8Array, at: number, { level, within }: Inner): number {
  if (bytes[at] === OPEN_BRACE) return skipVisited(bytes, at, within(level));
  if (bytes[at] !== OPEN_BRACKET) return skipValue(bytes, at, level);
  return skipArray(bytes, at, { level, within });
}

function skipArray(bytes: Uint8Array, at: number, nesting: number | Inner): number {
  const level = levelOf(nesting) + 1;
  if (level > DEPTH_MAX + 1) throw tooDeep();
  const inner = typeof nesting === "number" ? null : { level, within: nesting.within };
  let next = skipWhitespace(bytes, at + 1);
  if (bytes[next] === CLOSE_BRACKET) return next + 1;
  for (;;) {
    next = inner ? skipWithin(bytes, next, inner) : skipValue(bytes, next, level);
    next = skipWhitespace(bytes, next);
    if (bytes[next] === CLOSE_BRACKET) return next + 1;
    if (bytes[next] !== COMMA) throw fault(bytes, next);
    next = skipWhitespace(bytes, next + 1);
  }
}

const tooDeep = () =>
  new GatewayError("invalid_request", `The body is nested deeper than ${DEPTH_MAX} levels.`);

function skipWord(bytes: Uint8Array, at: number): number {
  const word = WORDS[bytes[at] ?? 0] ?? [];
  for (const [index, byte] of word.entries()) {
    if (bytes[at + index] !== byte) throw fault(bytes, at + index);
  }
  return at + word.length;
}

function skipNumber(bytes: Uint8Array, at: number): number {
  const start = bytes[at] === MINUS ? at + 1 : at;
  // No digit may follow a leading zero.
  let next = bytes[start] === ZERO ? start + 1 : skipDigits(bytes, start);
  if (bytes[next] === POINT) next = skipDigits(bytes, next + 1);
  const exponent = bytes[next];
  if (exponent !== 0x45 && exponent !== 0x65) return next;
  const sign = bytes[next + 1];
  return skipDigits(bytes, sign === PLUS || sign === MINUS ? next + 2 : next + 1);
}

/** The offset after one or more digits. */
function skipDigits(bytes: Uint8Array, at: number): number {
  let next = at;
  while (isDigit(bytes[next])) next++;
  if (next === at) throw fault(bytes, at);
  return next;
}
