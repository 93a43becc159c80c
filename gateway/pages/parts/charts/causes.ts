import type { Decomposition } from "#shared/report.ts";
import { usd as inUsd } from "../format.ts";

export type Cause = { label: string; sentence: string; usd: number };

/** A label and a sentence for a rise, and for a fall. */
type Words = readonly [more: string, itGrew: string, less: string, itFell: string];

const UNEXPLAINED = ["Not explained", "not explained by people, calls and tokens"] as const;
const WORDS = {
  users: ["More people", "more people use it", "Fewer people", "fewer people use it"],
  requestsPerUser: [
    ...(["More calls each", "each person makes more calls"] as const),
    ...(["Fewer calls each", "each person makes fewer calls"] as const),
  ],
  inputTokensPerRequest: ["Longer inputs", "inputs are longer", "Shorter inputs", "inputs are shorter"],
  outputTokensPerRequest: ["Longer outputs", "outputs are longer", "Shorter outputs", "outputs are shorter"],
  pricePerToken: [
    ...(["Price per token", "a token costs more, by dearer models or less cache"] as const),
    ...(["Price per token", "a token costs less, by cheaper models or more cache"] as const),
  ],
} as const satisfies Record<keyof Decomposition["parts"], Words>;

const causeOf = ([more, itGrew, less, itFell]: Words, usd: number): Cause =>
  usd >= 0 ? { label: more, sentence: itGrew, usd } : { label: less, sentence: itFell, usd };

/** Why the cost changed, cause by cause; they add up to the change. */
export function causesOf({ parts, unmodelledUsd }: Decomposition): Cause[] {
  // The table has every part.
  const names = Object.keys(WORDS) as (keyof typeof WORDS)[];
  return [
    ...names.map((name) => causeOf(WORDS[name], parts[name])),
    causeOf([...UNEXPLAINED, ...UNEXPLAINED], unmodelledUsd),
  ];
}

/** Below this share of all changes a cause is not worth a word. */
const SHARE_MIN = 0.1;
const NAMED_MAX = 3;

/** `$1,500 more than before (October): inputs are longer (+$1,310), …` */
export function inWords(decomposition: Decomposition, before: string): string {
  const { deltaUsd, previousUsd, currentUsd } = decomposition;
  if (previousUsd === 0) {
    return currentUsd === 0
      ? `Nothing was spent, neither now nor before (${before}).`
      : `Nothing was spent before (${before}), so there is nothing to explain.`;
  }
  if (currentUsd === 0) return `${inUsd(previousUsd)} less than before (${before}): nothing was spent since.`;
  const causes = causesOf(decomposition).toSorted((a, b) => Math.abs(b.usd) - Math.abs(a.usd));
  const all = causes.reduce((sum, { usd: change }) => sum + Math.abs(change), 0);
  if (all < 0.005) return `The cost is the same as before (${before}).`;
  const named = causes.filter(({ usd: change }) => Math.abs(change) >= all * SHARE_MIN).slice(0, NAMED_MAX);
  const reasons = named.map(
    ({ sentence, usd: change }) => `${sentence} (${change >= 0 ? "+" : "−"}${inUsd(Math.abs(change))})`,
  );
  const head =
    Math.abs(deltaUsd) < 0.005
      ? `As much as before (${before})`
      : `${inUsd(Math.abs(deltaUsd))} ${deltaUsd > 0 ? "more" : "less"} than before (${before})`;
  return `${head}: ${listed(reasons)}.`;
}

const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
