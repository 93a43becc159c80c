import { LIST_PRICES, MERGES, type Merge, type SessionName, type Tokens, USES, type Use } from "./story.ts";

// The sum that the report is checked against. It shares no line with the gateway: amounts are whole numbers of 10^-12
// USD, so a price in USD per million tokens, written in millionths, is the price of one token.

const UNITS_PER_USD = 10n ** 12n;

/** An exact amount, in 10^-12 USD. */
export type Amount = bigint;

const perToken = (usdPerMillion: string): Amount => {
  const [whole = "", fraction = ""] = usdPerMillion.split(".");
  return BigInt(whole + fraction.padEnd(6, "0"));
};

/** Tokens times list price. */
export function costOf(model: Use["model"], tokens: Tokens): Amount {
  const price = LIST_PRICES[model];
  return (Object.keys(price) as (keyof Tokens)[]).reduce(
    (sum, kind) => sum + BigInt(tokens[kind]) * perToken(price[kind]),
    0n,
  );
}

const costOfSession = (session: SessionName): Amount =>
  USES.filter((use) => use.session === session)
    .flatMap(({ model, turns }) => turns.map((tokens) => costOf(model, tokens)))
    .reduce((sum, cost) => sum + cost, 0n);

export type Outcome = { merged: number; joined: number; cost: Amount; perMerge: Amount };

/** What the merges of a repository (null: of all) must come to: only sessions that exactly one line names count. */
export function outcomeOf(repository: Merge["repository"] | null): Outcome {
  const merges = MERGES.filter((merge) => repository === null || merge.repository === repository);
  const joined = merges.filter(({ sessions }) => sessions.length === 1);
  const cost = joined.flatMap(({ sessions }) => sessions).reduce((sum, it) => sum + costOfSession(it), 0n);
  const merged = merges.length;
  if (cost % BigInt(merged) !== 0n) throw new Error("the story's amounts must divide evenly");
  return { merged, joined: joined.length, cost, perMerge: cost / BigInt(merged) };
}

/** Such as `0.0123`, exact. */
export function usd(amount: Amount): string {
  const fraction = (amount % UNITS_PER_USD).toString().padStart(12, "0").replace(/0+$/, "");
  return `${amount / UNITS_PER_USD}${fraction && `.${fraction}`}`;
}

/** The amount that decimal text writes; null where that is finer than 10^-12 USD, or no amount. */
export function amountOf(text: string | null): Amount | null {
  const [, whole, fraction = ""] = /^(\d+)(?:\.(\d{1,12})0*)?$/.exec(text ?? "") ?? [];
  return whole === undefined ? null : BigInt(whole + fraction.padEnd(12, "0"));
}
