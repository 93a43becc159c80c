/** The shape of a JSON text that is read piece by piece, without its bulk. */
export type JsonOutline = {
  push(chunk: Uint8Array): void;
  /** The root's last byte was read, and nothing but white space came after it. */
  closed(): boolean;
  /** JSON with the same members in the same places; empty if the text is not one whole JSON object or array. */
  bytes(): Uint8Array;
};

/** No reader of usage looks at longer strings: names and counts are short. */
const TOKEN_BYTES_MAX = 256;
/** No figure and no tool's name lies deeper. */
const DEPTH_MAX = 7;
/** The probabilities of single tokens are the bulk of answers that have them, and are left out. */
const LEFT_OUT = new Set(['"logprobs"', '"logprobsResult"']);
/** From here on, the elements of arrays keep only their number. */
const ARRAYS_BYTES_MAX = 1024 * 1024;
/** A text whose outline is larger has none. */
const OUTLINE_BYTES_MAX = 4 * 1024 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACE = 0x7d;
const CLOSE_BRACKET = 0x5d;
const COLON = 0x3a;

/** 1: the byte begins or ends a container or begins a string; 2: it separates. 0: it is part of a number or a word. */
const KIND = new Uint8Array(256);
for (const byte of [QUOTE, OPEN_BRACE, OPEN_BRACKET, CLOSE_BRACE, CLOSE_BRACKET]) KIND[byte] = 1;
for (const byte of [0x2c, COLON, 0x20, 0x09, 0x0a, 0x0d]) KIND[byte] = 2;

/** `place`: what the next token of an object is; in an array, `element`. */
type State = {
  /** JSON so far, one character a byte. */
  text: string;
  /** The open containers that are kept, outermost first. */
  kept: { array: boolean; empty: boolean }[];
  /** How many containers are open inside one that is left out. */
  skipped: number;
  /** Arrays among `kept`. */
  arrays: number;
  place: "key" | "value" | "element";
  /** The name of the member whose value is read. */
  name: string;
  /** An unfinished string, number or word; null between tokens. `length` also counts what was not kept of it. */
  token: { string: boolean; text: string; length: number; escaping: boolean } | null;
  ended: boolean;
  /** Not JSON, more than one value, or too large an outline. */
  damaged: boolean;
};

/**
 * Outlines a JSON text of any size in bounded memory: every member keeps its name and place, but a long string becomes
 * an empty one, numbers in arrays are dropped, and containers that lie deep are emptied. So an answer's usage can be read
 * from its outline as from the answer. It does not validate: a text that is JSON has an outline that is JSON.
 */
export function jsonOutline(): JsonOutline {
  const state: State = {
    text: "",
    kept: [],
    skipped: 0,
    arrays: 0,
    place: "value",
    name: "",
    token: null,
    ended: false,
    damaged: false,
  };
  return {
    push(chunk) {
      let at = 0;
      while (at < chunk.byteLength && !state.damaged) {
        at = state.token?.string ? readString(state, chunk, at) : readOthers(state, chunk, at);
      }
    },
    closed: () => state.ended && !state.damaged,
    bytes: () => Buffer.from(state.ended && !state.damaged ? state.text : "", "latin1"),
  };
}

/** Reads up to the next string, and that string's opening quote; returns the offset after it. */
function readOthers(state: State, chunk: Uint8Array, start: number): number {
  for (let at = start; at < chunk.byteLength; ) {
    const byte = chunk[at] ?? 0;
    if (KIND[byte] === 0) {
      at = readScalar(state, chunk, at);
      continue;
    }
    endScalar(state);
    at += 1;
    if (KIND[byte] === 1) readMark(state, byte);
    if (state.token !== null || state.damaged) return at;
  }
  return chunk.byteLength;
}

/** A byte that begins or ends a container, or begins a string. */
function readMark(state: State, byte: number): void {
  const begins = byte === OPEN_BRACE || byte === OPEN_BRACKET;
  if (state.ended || (state.kept.length === 0 && !begins)) state.damaged = true;
  else if (byte === QUOTE) state.token = { string: true, text: "", length: 0, escaping: false };
  else if (begins) open(state, byte === OPEN_BRACKET);
  else close(state);
}

/** Reads on in a number or a word; those in arrays and in what is left out are skipped. */
function readScalar(state: State, chunk: Uint8Array, start: number): number {
  let end = start + 1;
  const isKept = state.skipped === 0 && state.place !== "element";
  // Arrays of numbers are the bulk of embeddings: their commas need no turn of their own.
  const last = isKept ? 0 : 2;
  while (end < chunk.byteLength && isWithin(KIND[chunk[end] ?? 0], last)) end += 1;
  if (state.kept.length === 0) state.damaged = true;
  if (!isKept) return end;
  state.token ??= { string: false, text: "", length: 0, escaping: false };
  keep(state.token, chunk, [start, end]);
  return end;
}

const isWithin = (kind: number | undefined, last: number): boolean => kind === 0 || kind === last;

function endScalar(state: State): void {
  if (!state.token) return;
  const { text, length } = state.token;
  state.token = null;
  write(state, length <= TOKEN_BYTES_MAX ? text : "null");
}

/** Reads on in a string; returns the offset after its closing quote, or the chunk's end. */
function readString(state: State, chunk: Uint8Array, start: number): number {
  const token = state.token;
  if (!token) return start;
  for (let from = start; ; ) {
    const quote = chunk.indexOf(QUOTE, from);
    const end = quote === -1 ? chunk.byteLength : quote;
    token.escaping = isEscaped(chunk, [start, end], token.escaping && from === start);
    if (quote !== -1 && token.escaping) {
      from = quote + 1;
      token.escaping = false;
      continue;
    }
    if (state.skipped === 0) keep(token, chunk, [start, end]);
    if (quote === -1) return end;
    state.token = null;
    write(state, token.length <= TOKEN_BYTES_MAX ? `"${token.text}"` : '""');
    return quote + 1;
  }
}

/** Whether the byte after the range is escaped: an odd number of backslashes is before it. */
function isEscaped(chunk: Uint8Array, [start, end]: [number, number], wasEscaping: boolean): boolean {
  let from = end;
  while (from > start && chunk[from - 1] === BACKSLASH) from -= 1;
  const odd = (end - from) % 2 === 1;
  return from === start && wasEscaping ? !odd : odd;
}

function keep(token: NonNullable<State["token"]>, chunk: Uint8Array, [start, end]: [number, number]): void {
  token.length += end - start;
  if (token.length > TOKEN_BYTES_MAX) token.text = "";
  else token.text += String.fromCharCode(...chunk.subarray(start, end));
}

function open(state: State, array: boolean): void {
  const { kept } = state;
  const isNamed = state.place === "value" && LEFT_OUT.has(state.name);
  const isLeftOut =
    isNamed || kept.length >= DEPTH_MAX || (state.arrays > 0 && state.text.length > ARRAYS_BYTES_MAX);
  if (state.skipped > 0 || isLeftOut) {
    if (state.skipped === 0) write(state, array ? "[]" : "{}");
    state.skipped += 1;
    return;
  }
  begin(state, array ? "[" : "{");
  kept.push({ array, empty: true });
  if (array) state.arrays += 1;
  state.place = array ? "element" : "key";
}

function close(state: State): void {
  if (state.skipped > 0) {
    state.skipped -= 1;
    return;
  }
  const closed = state.kept.pop();
  if (closed?.array) state.arrays -= 1;
  state.text += closed?.array ? "]" : "}";
  state.ended = state.kept.length === 0;
  next(state);
}

/** Writes a whole token, or an emptied container. */
function write(state: State, token: string): void {
  if (state.skipped > 0) return;
  begin(state, token);
  if (state.place === "key") {
    state.place = "value";
    state.name = token;
  } else next(state);
}

/** Writes what begins a token, after what separates it from the one before. */
function begin(state: State, text: string): void {
  const within = state.kept.at(-1);
  if (state.place === "value") state.text += state.kept.length === 0 ? text : `:${text}`;
  else state.text += within?.empty === false ? `,${text}` : text;
  if (within) within.empty = false;
  if (state.text.length > OUTLINE_BYTES_MAX) state.damaged = true;
}

function next(state: State): void {
  state.place = state.kept.at(-1)?.array ? "element" : "key";
}
