/**
 * Checks that no built-in example is, or is nearly, a text of a test set:
 *   bun test/bench/classifier/overlap.ts --data DIR
 * Compared by word 5-grams (characters in unspaced scripts) and by edit distance. Exits with 1 where one is found.
 */
import { parseArgs } from "node:util";
import { SEEDS } from "#gateway/classifier/kinds.ts";
import { normalise, wordAt, wordsOf } from "#gateway/classifier/text.ts";
import { readClinc, readCsv, readLines } from "./data.ts";

const GRAM = 5;
/** This share of an example's 5-grams in one text, or this likeness by edit distance, is too much. */
const SHARED_MAX = 0.4;
const LIKENESS_MAX = 0.75;
const COMPARED_CHARACTERS = 160;
/** Shorter ones ("good night", "what is 0% of 0?") occur by chance. */
const WORDS_MIN = 8;

function gramsOf(text: string): string[] {
  const read = normalise(text);
  const found = wordsOf(read);
  const words = Array.from(found.hashes, (_, at) => wordAt(found, at));
  return Array.from({ length: Math.max(words.length - GRAM + 1, 0) }, (_, at) =>
    words.slice(at, at + GRAM).join(" "),
  );
}

/** Levenshtein distance of two short texts. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const swap = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      next[j] = Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1);
    }
    row = next;
  }
  return row[other.length] ?? 0;
}

function likeness(one: string, other: string): number {
  const [a, b] = [
    normalise(one).slice(0, COMPARED_CHARACTERS),
    normalise(other).slice(0, COMPARED_CHARACTERS),
  ];
  const longest = Math.max(a.length, b.length, 1);
  if (Math.min(a.length, b.length) / longest < LIKENESS_MAX) return 0;
  return 1 - distance(a, b) / longest;
}

/** Texts that share a 3-gram of letters with another are compared by edit distance; the others cannot be near. */
function trigramsOf(text: string): Set<string> {
  const read = normalise(text).slice(0, COMPARED_CHARACTERS);
  return new Set(Array.from({ length: Math.max(read.length - 2, 0) }, (_, at) => read.slice(at, at + 3)));
}

async function allTexts(directory: string): Promise<string[]> {
  const lines = await Promise.all(
    [...new Bun.Glob("*.jsonl").scanSync(directory)].map((name) => readLines(directory, name)),
  );
  const clinc = await readClinc(directory, "clinc_data_full.json");
  const banking = [
    ...(await readCsv(directory, "banking_train.csv")),
    ...(await readCsv(directory, "banking_test.csv")),
  ];
  return [...new Set([...lines.flat(), ...Object.values(clinc).flat(), ...banking].map(({ text }) => text))];
}

const { values } = parseArgs({ options: { data: { type: "string" } } });
if (values.data === undefined) throw new Error("--data DIR is missing: the folder of labelled prompts");
const texts = await allTexts(values.data);
const holders = new Map<string, number[]>();
const byTrigram = new Map<string, number[]>();
for (const [at, text] of texts.entries()) {
  for (const gram of new Set(gramsOf(text))) holders.set(gram, [...(holders.get(gram) ?? []), at]);
  if (text.length > 2 * COMPARED_CHARACTERS) continue;
  for (const gram of trigramsOf(text)) {
    const list = byTrigram.get(gram);
    if (list) list.push(at);
    else byTrigram.set(gram, [at]);
  }
}

let found = 0;
for (const seed of SEEDS) {
  if (wordsOf(normalise(seed.text)).hashes.length < WORDS_MIN) continue;
  const grams = gramsOf(seed.text);
  const shared = new Map<number, number>();
  for (const gram of grams)
    for (const at of holders.get(gram) ?? []) shared.set(at, (shared.get(at) ?? 0) + 1);
  const [gramText, gramCount] = [...shared].sort((a, b) => b[1] - a[1])[0] ?? [-1, 0];
  const trigrams = trigramsOf(seed.text);
  const near = new Map<number, number>();
  for (const gram of trigrams)
    for (const at of byTrigram.get(gram) ?? []) near.set(at, (near.get(at) ?? 0) + 1);
  const candidates = [...near].filter(([, count]) => count >= trigrams.size / 2).map(([at]) => at);
  const nearest = candidates
    .map((at) => ({ at, likeness: likeness(seed.text, texts[at] ?? "") }))
    .sort((a, b) => b.likeness - a.likeness)[0];
  const share = grams.length > 0 ? gramCount / grams.length : 0;
  if (share > SHARED_MAX)
    console.log(
      `5-grams ${share.toFixed(2)}  ${seed.id}: ${seed.text}\n    ${texts[gramText]?.slice(0, 160)}`,
    );
  if (nearest && nearest.likeness > LIKENESS_MAX) {
    console.log(`edits ${nearest.likeness.toFixed(2)}  ${seed.id}: ${seed.text}\n    ${texts[nearest.at]}`);
  }
  if (share > SHARED_MAX || (nearest?.likeness ?? 0) > LIKENESS_MAX) found++;
}
console.log(`${SEEDS.length} built-in examples against ${texts.length} texts: ${found} too near`);
process.exitCode = found > 0 ? 1 : 0;
