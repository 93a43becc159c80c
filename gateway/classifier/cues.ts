import { LANGUAGES, readTexts } from "./kinds.ts";
import { CHARACTER_CLASS, GAP, LETTER, UNSPACED } from "./text.ts";
import { TUNING } from "./tuning.ts";

/**
 * Cues of tasks: for each concept, stems in about a dozen languages. A stem matches where a word begins ("summar"
 * matches "summarise"); a trailing `$` asks for a whole word; in unspaced scripts a stem matches anywhere.
 */
export type CueTable = Readonly<Record<string, readonly string[]>>;

/** A node of the trie that is walked from where a word begins. */
type TrieNode = {
  next: Map<number, TrieNode>;
  /** Concepts whose stem ends here, and those whose stem does if the word ends, too. */
  concepts: string[];
  whole: string[];
};
export type Lexicon = TrieNode;
export type Cue = { concept: string; matched: string };

const emptyNode = (): TrieNode => ({ next: new Map(), concepts: [], whole: [] });

function insert(root: TrieNode, concept: string, stem: string): void {
  const whole = stem.endsWith("$");
  const text = (whole ? stem.slice(0, -1) : stem).normalize("NFKC").toLowerCase();
  let node = root;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const next = node.next.get(code) ?? emptyNode();
    node.next.set(code, next);
    node = next;
  }
  const list = whole ? node.whole : node.concepts;
  if (!list.includes(concept)) list.push(concept);
}

export function compileLexicon(tables: readonly CueTable[]): Lexicon {
  const root = emptyNode();
  for (const table of tables) {
    for (const [concept, stems] of Object.entries(table))
      for (const stem of stems) insert(root, concept, stem);
  }
  return root;
}

const classAt = (text: string, at: number) => CHARACTER_CLASS[text.charCodeAt(at)] ?? GAP;

type OnMatch = (concept: string, start: number, end: number) => void;

/** Follows the trie from a word's start and reports every stem that ends on the way. */
function walk(lexicon: Lexicon, { text, start }: { text: string; start: number }, onMatch: OnMatch): void {
  let node = lexicon.next.get(text.charCodeAt(start));
  for (let end = start + 1; node; end++) {
    for (const concept of node.concepts) onMatch(concept, start, end);
    if (node.whole.length > 0 && (end >= text.length || classAt(text, end) !== LETTER)) {
      for (const concept of node.whole) onMatch(concept, start, end);
    }
    if (end >= text.length) return;
    node = node.next.get(text.charCodeAt(end));
  }
}

function scan(lexicon: Lexicon, text: string, onMatch: OnMatch): void {
  let previous = GAP;
  for (let at = 0; at < text.length; at++) {
    const kind = classAt(text, at);
    if (kind === UNSPACED || (kind === LETTER && previous !== LETTER))
      walk(lexicon, { text, start: at }, onMatch);
    previous = kind;
  }
}

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
    const early = classAt(line, cue.start) === UNSPACED ? TUNING.earlyUnspaced : TUNING.earlyCharacters;
    if (cue.start < early) cues.push({ concept: `early:${cue.concept}`, matched: cue.matched });
    if (first && cue.start < first.start) first = cue;
  }
  if (first) cues.push({ concept: `first:${first.concept}`, matched: first.matched });
  return cues.concat(pairs(found));
}

const PAIRED_MAX = 8;
function pairs(found: readonly Cue[]): Cue[] {
  const named = found.slice(0, PAIRED_MAX).sort((a, b) => (a.concept < b.concept ? -1 : 1));
  return named.flatMap((one, index) =>
    named.slice(index + 1).map((other) => ({
      concept: `${one.concept}+${other.concept}`,
      matched: `${one.matched} … ${other.matched}`,
    })),
  );
}

/** The cues of all languages, as they are written down. */
export const CUES = LANGUAGES.map((language) => readTexts("lexicon", language));

let compiled: Lexicon | null = null;

/** The same, compiled when it is first used. */
export function lexicon(): Lexicon {
  compiled ??= compileLexicon(CUES);
  return compiled;
}
