import type { Command } from "commander";
import { pageOf } from "#shared/admin/fields.ts";
import { PullRequestPage, PullRequestView } from "#shared/admin/pull-requests.ts";
import { isOver, parseDecimal } from "#shared/decimal.ts";
import { counted } from "#shared/plural.ts";
import { usdText } from "#shared/usd-text.ts";
import { type Api, adminApi, expectShape } from "../client/api.ts";
import { showComment } from "../stamping/cost-comment.ts";
import { gitIn } from "../stamping/git.ts";
import { type GithubVia, openGithub } from "../stamping/github.ts";
import { locatePullRequest, type RepositoryName } from "../stamping/pull-request.ts";
import { directoryOf, parseCount, parser, print, printJson, printNote, URL_OPTION } from "./common.ts";
import { parseRepository, VIA_OPTION } from "./pr.ts";

type PullRequestName = RepositoryName & { number: number };

type Options = {
  number?: number;
  repo?: RepositoryName;
  maxUsd?: string;
  wait?: number;
  merged?: true;
  comment?: true;
  via?: GithubVia;
  url?: string;
  json?: true;
};

export const addPrCost = (pr: Command) =>
  pr
    .command("cost")
    .description("Print what the pull request's session cost, and check it against a limit.")
    .option("--number <n>", "use this pull request instead of the branch's", parseCount)
    .option("--repo <owner/name>", "use this repository instead of the checkout's", parseRepository)
    .option("--max-usd <amount>", "exit with status 1 if the cost is above this amount", parseUsd)
    .option(
      "--wait <seconds>",
      "wait for at most this many seconds until the gateway has the cost",
      parseCount,
    )
    .option("--merged", "with --wait: wait for the merge")
    .option("--comment", "also post the cost as one comment on the pull request")
    .option(...VIA_OPTION)
    .option("--json", "print JSON")
    .option(...URL_OPTION)
    .addHelpText("after", HELP)
    .action(async (options: Options, command: Command) => {
      process.exitCode = await cost(directoryOf(command), options);
    });

const HELP = `
ADMIN_KEY is the admin key, or an admin token with the scope pull_requests. A pull request of unknown cost never fails the check.

  tallygate pr cost --repo octo-org/shop --number 12 --max-usd 5`;

const parseUsd = parser("Expected an amount, such as 2.50.", (text) =>
  /^\d{1,9}(\.\d{1,12})?$/.test(text) ? text : null,
);

/** Exit status 1 if it is above the budget, or the comment could not be written. */
async function cost(directory: string, options: Options): Promise<number> {
  const { maxUsd: budget = null, wait = 0, via = null } = options;
  const name = await nameOf(directory, options);
  const page = await awaitPullRequest(adminApi(options.url), name, {
    ms: wait * 1000,
    until: options.merged ? "merged" : "known",
  });
  if (page === null) throw new Error(`${addressOf(name)} is not known to the gateway. ${UNKNOWN}`);
  const figures = pullRequestCost(page, budget);
  const markdown = costText(page, figures, "markdown");
  const text = costText(page, figures, "plain");
  const isShown =
    options.comment === undefined ||
    (await showComment(openGithub(directory, via), name, markdown).then(
      () => true,
      (error: unknown) => {
        printNote(error instanceof Error ? error.message : "The comment could not be written.");
        return false;
      },
    ));
  const { costUsd, isLowerBound, isAbove } = figures;
  const facts = { cost_usd: costUsd, is_lower_bound: isLowerBound, session: page.session, above: isAbove };
  const { settled = null, reasons = [] } = page.settlement ?? {};
  if (options.json) printJson({ ...facts, settled, text, markdown });
  else print([text, ...reasons.map((reason) => `Not settled: ${reason.text}`)].join("\n"));
  return isAbove || !isShown ? 1 : 0;
}

const UNKNOWN = "The GitHub App reports pull requests of the repositories that it is installed in.";

const addressOf = ({ owner, repository, number }: PullRequestName): string =>
  `${owner}/${repository}#${number}`;

/** GitHub is asked only for what the options leave open. */
async function nameOf(directory: string, { repo, number, via }: Options): Promise<PullRequestName> {
  if (repo && number !== undefined) return { ...repo, number };
  const found = await locatePullRequest(gitIn(directory), openGithub(directory, via ?? null), {
    place: repo ?? null,
    number: number ?? null,
  });
  if (found === null) throw new Error("This branch has no pull request yet.");
  return { owner: found.owner, repository: found.repository, number: found.number };
}

/** How long to wait, in milliseconds, until the gateway knows the pull request, or its merge. */
type Wait = { ms: number; until: "known" | "merged" };

const PAUSE_MS = 2_000;

/** What the gateway knows of a pull request, at the latest when the wait ends; null: nothing. @throws ApiError */
async function awaitPullRequest(api: Api, name: PullRequestName, { ms, until }: Wait) {
  const end = performance.now() + ms;
  for (;;) {
    const page = await readPullRequest(api, name);
    const isThere = page !== null && (until === "known" || page.merged_at !== null);
    const left = end - performance.now();
    if (isThere || left <= 0) return page;
    await Bun.sleep(Math.min(PAUSE_MS, left));
  }
}

async function readPullRequest(api: Api, { owner, repository, number }: PullRequestName) {
  const query = new URLSearchParams({ repository: `${owner}/${repository}`, number: String(number) });
  const answer = await api.call("GET", `/admin/v1/pull-requests?${query}`);
  const [found] = expectShape(pageOf(PullRequestView), answer, "The pull requests").data;
  if (found === undefined) return null;
  const page = await api.call("GET", `/admin/v1/pull-requests/${found.id}`);
  return expectShape(PullRequestPage, page, "The pull request");
}

/** What a pull request cost, against a budget in USD; `costUsd` is null where it is unknown. */
type PullRequestCost = {
  costUsd: string | null;
  isLowerBound: boolean;
  budgetUsd: string | null;
  /** An unknown cost is never above. */
  isAbove: boolean;
};

/** As in reports, a merge costs what its joined session cost; before the merge, it is the cost so far. */
function pullRequestCost(page: PullRequestPage, budgetUsd: string | null): PullRequestCost {
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
function costText(page: PullRequestPage, cost: PullRequestCost, form: "plain" | "markdown"): string {
  const strong = (text: string) => (form === "markdown" ? `**${text}**` : text);
  const sentences = [
    ...(cost.costUsd === null ? unknown(page) : known(page, cost.costUsd, cost.isLowerBound)),
    ...against(cost),
  ];
  const [first = "", ...rest] = sentences;
  return [strong(first), ...rest].join(" ");
}

function known(page: PullRequestPage, costUsd: string, isLowerBound: boolean): string[] {
  const calls = `${counted(page.session_requests, "call")}`;
  const sofar = page.link === "open" ? " so far" : "";
  const shared = page.findings.filter(({ code }) => code === "session_of_several_pull_requests");
  return [
    `AI cost of ${numberOf(page)}${sofar}: ${isLowerBound ? "at least " : ""}${usdText(costUsd)}.`,
    `${calls} of session \`${page.session}\`.`,
    ...shared.map(({ text }) => text),
  ];
}

const claimOf = ({ findings }: PullRequestPage) => findings.find(({ code }) => code === "session_is_claimed");

function unknown(page: PullRequestPage): string[] {
  const first = `The AI cost of ${numberOf(page)} is not known.`;
  const named = page.session !== null && (page.link === "joined" || page.link === "open");
  const claim = claimOf(page);
  if (claim) return [first, claim.text];
  if (named) return [first, `No call of session \`${page.session}\` has a known cost.`];
  return [first, page.link === "open" ? [] : page.reason, page.remedy ?? []].flat();
}

function against({ costUsd, isLowerBound, budgetUsd, isAbove }: PullRequestCost): string[] {
  if (budgetUsd === null) return [];
  const budget = `budget of ${usdText(budgetUsd)}`;
  if (costUsd === null) return [`The ${budget} is not checked.`];
  if (isAbove) return [`That is above the ${budget}.`];
  return [`${isLowerBound ? "The known part" : "That"} is within the ${budget}.`];
}

const numberOf = ({ repository, number }: PullRequestPage): string =>
  `${repository ?? "pull request "}#${number}`;
