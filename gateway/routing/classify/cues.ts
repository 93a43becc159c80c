import { CHARACTER_CLASS, GAP, LETTER, UNSPACED } from "./characters.ts";

/**
 * Cues of tasks: for each concept, stems in about a dozen languages. A stem matches where a word begins ("summar"
 * matches "summarise"); a trailing `$` asks for a whole word; in unspaced scripts a stem matches anywhere.
 */
export type CueTable = Readonly<Record<string, readonly string[]>>;

/**
 * Compiled cues: one trie walked from every word's start. Nodes are numbered level by level, so that a node's children
 * stand side by side: from `children[node]` to `children[node + 1]`. Node 0 is the root.
 */
export type Lexicon = {
  /** The code unit that leads to each node. */
  codes: Uint16Array;
  children: Uint32Array;
  /** Where a word begins: the root's child by code unit, 0 where there is none. */
  firsts: Uint16Array;
  /** 1 where a stem ends, to look it up in `ends`. */
  isEnd: Uint8Array;
  ends: ReadonlyMap<number, Ends>;
};
/** Concepts whose stem ends at a node, and those that ask for the word's end there, too. */
type Ends = { concepts: string[]; whole: string[] };
export type Cue = { concept: string; matched: string };

/** What stands before here is early; a character of an unspaced script says as much as a short word. */
const EARLY_CHARACTERS = 50;
const EARLY_UNSPACED = 20;

type Node = Ends & { code: number; next: Map<number, Node> };
const nodeOf = (code: number): Node => ({ code, next: new Map(), concepts: [], whole: [] });

function insert(root: Node, concept: string, stem: string): void {
  const whole = stem.endsWith("$");
  const text = (whole ? stem.slice(0, -1) : stem).normalize("NFKC").toLowerCase();
  let node = root;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const next = node.next.get(code) ?? nodeOf(code);
    node.next.set(code, next);
    node = next;
  }
  const list = whole ? node.whole : node.concepts;
  if (!list.includes(concept)) list.push(concept);
}

/** Lays a trie out level by level. */
function laidOut(root: Node): Lexicon {
  const nodes = [root];
  const children: number[] = [];
  for (const node of nodes) {
    children.push(nodes.length);
    nodes.push(...node.next.values());
  }
  const firsts = new Uint16Array(65_536);
  for (let child = 1; child <= root.next.size; child++) firsts[nodes[child]?.code ?? 0] = child;
  const ends = new Map<number, Ends>();
  for (const [at, { concepts, whole }] of nodes.entries()) {
    if (concepts.length + whole.length > 0) ends.set(at, { concepts, whole });
  }
  return {
    codes: Uint16Array.from(nodes, ({ code }) => code),
    children: Uint32Array.from([...children, nodes.length]),
    firsts,
    isEnd: Uint8Array.from(nodes, (_, at) => Number(ends.has(at))),
    ends,
  };
}

/** Compiles cue tables (one per language) into one lexicon. */
export function compileLexicon(tables: readonly CueTable[]): Lexicon {
  const root = nodeOf(0);
  for (const table of tables) {
    for (const [concept, stems] of Object.entries(table))
      for (const stem of stems) insert(root, concept, stem);
  }
  return laidOut(root);
}

const classAt = (text: string, at: number) => CHARACTER_CLASS[text.charCodeAt(at)] ?? GAP;

/** The child of a node that a code unit leads to; 0 where there is none. */
function childOf({ codes, children }: Lexicon, node: number, code: number): number {
  const last = children[node + 1] as number;
  for (let child = children[node] as number; child < last; child++) if (codes[child] === code) return child;
  return 0;
}

type Span = { start: number; end: number };
type Found = (concept: string, start: number, end: number) => void;

function tellEnds(ends: Ends | undefined, text: string, { start, end }: Span, found: Found): void {
  for (const concept of ends?.concepts ?? []) found(concept, start, end);
  if (end < text.length && classAt(text, end) === LETTER) return;
  for (const concept of ends?.whole ?? []) found(concept, start, end);
}

/** Follows the trie from a word's start, telling every stem that ends on the way. */
function walk(lexicon: Lexicon, text: string, start: number, found: Found): void {
  let node = lexicon.firsts[text.charCodeAt(start)] as number;
  for (let end = start + 1; node > 0; end++) {
    if (lexicon.isEnd[node] === 1) tellEnds(lexicon.ends.get(node), text, { start, end }, found);
    if (end >= text.length) return;
    node = childOf(lexicon, node, text.charCodeAt(end));
  }
}

function scan(lexicon: Lexicon, text: string, found: Found): void {
  let previous = GAP;
  for (let at = 0; at < text.length; at++) {
    const kind = classAt(text, at);
    if (kind === UNSPACED || (kind === LETTER && previous !== LETTER)) walk(lexicon, text, at, found);
    previous = kind;
  }
}

/** Names of two parts. Each is made once: to put them together anew takes longer than to find the cues. */
function naming(separator: string): (one: string, other: string) => string {
  const made = new Map<string, Map<string, string>>();
  return (one, other) => {
    const known = made.get(one) ?? new Map<string, string>();
    const name = known.get(other) ?? `${one}${separator}${other}`;
    if (known.size === 0) made.set(one, known);
    known.set(other, name);
    return name;
  };
}
const placeName = naming(":");
const pairName = naming("+");

/** Blanks that are not one space. */
const BLANKS = /\s\s+|[^\S ]/g;

/**
 * The cues of a text: every concept seen in the instruction zone, `first:` for the earliest, `early:` within its first
 * 50 characters (20 in unspaced scripts), and pairs (`translate+language`) of concepts in it.
 */
export function matchCues(lexicon: Lexicon, zone: string): Cue[] {
  const line = zone.replace(BLANKS, " ");
  const seen = new Map<string, { matched: string; start: number }>();
  scan(lexicon, line, (concept, start, end) => {
    if (!seen.has(concept)) seen.set(concept, { matched: line.slice(start, end), start });
  });
  const found = [...seen].map(([concept, at]) => ({ concept, ...at }));
  const cues: Cue[] = [];
  let first = found[0];
  for (const cue of found) {
    cues.push({ concept: cue.concept, matched: cue.matched });
    const early = classAt(line, cue.start) === UNSPACED ? EARLY_UNSPACED : EARLY_CHARACTERS;
    if (cue.start < early) cues.push({ concept: placeName("early", cue.concept), matched: cue.matched });
    if (first && cue.start < first.start) first = cue;
  }
  if (first) cues.push({ concept: placeName("first", first.concept), matched: first.matched });
  return cues.concat(pairs(found));
}

const PAIRED_MAX = 8;
function pairs(found: readonly Cue[]): Cue[] {
  const named = found.slice(0, PAIRED_MAX).sort((a, b) => (a.concept < b.concept ? -1 : 1));
  return named.flatMap((one, index) =>
    named.slice(index + 1).map((other) => ({
      concept: pairName(one.concept, other.concept),
      matched: `${one.matched} … ${other.matched}`,
    })),
  );
}
