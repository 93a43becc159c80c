import type { PullRequestPage } from "#shared/admin/records.ts";
import { isOver, parseDecimal } from "#shared/decimal.ts";
import { plural } from "#shared/plural.ts";
import { usdText } from "#shared/usd-text.ts";

/** What a pull request cost, against a budget in USD; `costUsd` is null where it is unknown. */
export type PullRequestCost = {
  costUsd: string | null;
  isLowerBound: boolean;
  budgetUsd: string | null;
  /** An unknown cost is never above. */
  isAbove: boolean;
};

/** As in reports, a merge costs what its joined session cost; before the merge, it is the cost so far. */
export function pullRequestCost(page: PullRequestPage, budgetUsd: string | null): PullRequestCost {
  const counts = page.link === "joined" || page.link === "open";
  const costUsd = counts ? page.session_cost_usd : null;
  return {
    costUsd,
    isLowerBound: costUsd !== null && page.session_cost_is_lower_bound,
    budgetUsd,
    isAbove: costUsd !== null && budgetUsd !== null && isOver(parseDecimal(costUsd), parseDecimal(budgetUsd)),
  };
}

/** The sentences about it: plain for a terminal, or in GitHub's Markdown. Figures, a session id and fixed words. */
export function costText(page: PullRequestPage, cost: PullRequestCost, form: "plain" | "markdown"): string {
  const strong = (text: string) => (form === "markdown" ? `**${text}**` : text);
  const sentences = [
    ...(cost.costUsd === null ? unknown(page) : known(page, cost.costUsd, cost.isLowerBound)),
    ...against(cost),
  ];
  const [first = "", ...rest] = sentences;
  return [strong(first), ...rest].join(" ");
}

function known(page: PullRequestPage, costUsd: string, isLowerBound: boolean): string[] {
  const calls = `${page.session_requests.toLocaleString("en-US")} ${plural(page.session_requests, "call")}`;
  const sofar = page.link === "open" ? " so far" : "";
  const shared = page.findings.filter(({ code }) => code === "session_of_several_pull_requests");
  return [
    `AI cost of ${nameOf(page)}${sofar}: ${isLowerBound ? "at least " : ""}${usdText(costUsd)}.`,
    `${calls} of session \`${page.session}\`.`,
    ...shared.map(({ text }) => text),
  ];
}

function unknown(page: PullRequestPage): string[] {
  const first = `The AI cost of ${nameOf(page)} is not known.`;
  const named = page.session !== null && (page.link === "joined" || page.link === "open");
  if (named) return [first, `No call of session \`${page.session}\` has a known cost.`];
  return [
    first,
    ...(page.link === "open" ? [] : [page.reason]),
    ...(page.remedy === null ? [] : [page.remedy]),
  ];
}

function against({ costUsd, isLowerBound, budgetUsd, isAbove }: PullRequestCost): string[] {
  if (budgetUsd === null) return [];
  const budget = `budget of ${usdText(budgetUsd)}`;
  if (costUsd === null) return [`The ${budget} is not checked.`];
  if (isAbove) return [`That is above the ${budget}.`];
  return [`${isLowerBound ? "The known part" : "That"} is within the ${budget}.`];
}

const nameOf = ({ repository, number }: PullRequestPage): string =>
  `${repository ?? "pull request "}#${number}`;
