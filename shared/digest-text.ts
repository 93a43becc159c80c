import type { Digest, DigestFigures, NotJoined } from "./digest.ts";
import { keysOf } from "./keys-of.ts";
import { counted } from "./plural.ts";
import { USD } from "./usd-text.ts";

type Sides = { current: DigestFigures | null; previous: DigestFigures | null };

const DAY_MS = 86_400_000;
const DAY = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" });

/** `16 November 2026 to 22 November 2026`: the first and the last day of a digest. */
function weekText({ period }: Pick<Digest, "period">): string {
  const last = new Date(Date.parse(period.to ?? "") - DAY_MS);
  return `${DAY.format(new Date(period.from ?? ""))} to ${DAY.format(last)}`;
}

export const digestTitle = (digest: Digest): string => `AI cost of merged pull requests, ${weekText(digest)}`;

/** The digest in GitHub's Markdown, which is readable as it is. Names of repositories, figures and fixed words. */
export function digestText(digest: Digest): string {
  return [...totals(digest), ...table(digest), ...moves(digest), "", FOOT].join("\n");
}

const FOOT =
  "Whole days in UTC, each figure beside that of the seven days before. “At least”: a merge without one known session, or a call without a price, is among them.";

function totals({ total, not_joined }: Digest): string[] {
  const { current, previous } = total;
  return [
    `- Merged pull requests: **${count(current?.merged_prs)}** (${count(previous?.merged_prs)})`,
    `- Joined to a session: **${joined(current)}** (${joined(previous)})`,
    ...reasons(not_joined),
    `- Their cost: **${usd(current, "cost_usd")}** (${usd(previous, "cost_usd")}${change(total, "cost_usd")})`,
    `- Cost per merged pull request: **${usd(current, "cost_per_merged_pr")}** (${usd(previous, "cost_per_merged_pr")}${change(total, "cost_per_merged_pr")})`,
    `- Reverted since: **${count(current?.reverted_prs)}** (${count(previous?.reverted_prs)}), whose sessions cost ${usd(current, "reverted_cost_usd")} (${usd(previous, "reverted_cost_usd")})`,
  ];
}

/** One line that says why some are not joined; absent if all are. */
function reasons({ no_stamp, conflict, unknown_session, claimed }: NotJoined): string[] {
  const why = [
    ...(no_stamp > 0 ? [`${count(no_stamp)} without a line \`Gateway-Session:\``] : []),
    ...(conflict > 0 ? [`${count(conflict)} with two sessions or more`] : []),
    ...(unknown_session > 0 ? [`${count(unknown_session)} with a session of which no call is recorded`] : []),
    ...(claimed > 0 ? [`${count(claimed)} from outside, with a session that no one has accepted`] : []),
  ];
  return why.length === 0 ? [] : [`- Not joined: ${why.join(", ")}`];
}

function table({ repositories, repositories_left_out }: Digest): string[] {
  if (repositories.length === 0) return [];
  const rows = repositories.map((it) =>
    [
      `\`${it.repository}\``,
      count(it.current?.merged_prs),
      joined(it.current),
      usd(it.current, "cost_usd"),
      usd(it.current, "cost_per_merged_pr"),
      usd(it.previous, "cost_per_merged_pr"),
      count(it.current?.reverted_prs),
    ].join(" | "),
  );
  const left =
    repositories_left_out > 0
      ? ["", `And ${counted(repositories_left_out, "more repository", "more repositories")}.`]
      : [];
  return [
    "",
    "| Repository | Merged | Joined | Cost | Cost per merged PR | Week before | Reverted |",
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ...rows.map((row) => `| ${row} |`),
    ...left,
  ];
}

const PARTS = {
  users: "people",
  requestsPerUser: "calls per person",
  inputTokensPerRequest: "input per call",
  outputTokensPerRequest: "output per call",
  pricePerToken: "price per token",
} as const;

function moves({ spend }: Digest): string[] {
  if (spend === null) return [];
  const least = spend.floor ? "at least " : "";
  const parts = keysOf(PARTS).map((name) => `- ${PARTS[name]}: ${signed(spend.parts[name])}`);
  return [
    "",
    `All calls together cost ${least}${money(spend.currentUsd)}, ${signed(spend.deltaUsd)} compared with the week before. What changed it:`,
    "",
    ...parts,
    `- not explained by these: ${signed(spend.unmodelledUsd)}`,
  ];
}

const count = (value: number | undefined): string => (value ?? 0).toLocaleString("en-US");

function joined(side: DigestFigures | null): string {
  if (side === null || side.merged_prs === 0) return "none";
  return `${count(side.joined_prs)} of ${count(side.merged_prs)}, ${Math.floor((100 * side.joined_prs) / side.merged_prs)} %`;
}

type Money = "cost_usd" | "cost_per_merged_pr" | "reverted_cost_usd";

function usd(side: DigestFigures | null, name: Money): string {
  if (name === "cost_per_merged_pr" && (side?.merged_prs ?? 0) === 0) return "none";
  const value = side === null ? 0 : side[name];
  if (value === null) return "unknown";
  return side?.lower_bound && name !== "reverted_cost_usd" ? `at least ${money(value)}` : money(value);
}

/** In percent, if there is a previous figure to compare with. */
function change({ current, previous }: Sides, name: Money): string {
  const [now, before] = [current?.[name] ?? null, previous?.[name] ?? null];
  if (now === null || before === null || before === 0) return "";
  const percent = Math.round((100 * Math.abs(now - before)) / before);
  return `; ${now < before ? "−" : "+"}${percent} %`;
}

const money = (value: number): string => USD.format(value);

const signed = (value: number): string => `${value < 0 ? "−" : "+"}${USD.format(Math.abs(value))}`;
