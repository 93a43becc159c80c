import { type Static, Type } from "@sinclair/typebox";
import { counted } from "#shared/plural.ts";
import { fits, nullable, open } from "#shared/schema.ts";
import { readSessionLine, type SessionLine } from "#shared/session-line.ts";
import { diagnosticMeanings } from "#shared/session-line-meaning.ts";
import type { Secret } from "../../directory.ts";
import { ApiError, apiAt } from "../client/api.ts";
import { type Finding, failed, passed, skipped } from "../print/finding.ts";
import { pinnedSession } from "../stamping/branch-session.ts";
import { currentBranch, type Git, isDefaultBranch } from "../stamping/git.ts";
import type { GithubApi } from "../stamping/github.ts";
import { locatePullRequest, type PullRequest } from "../stamping/pull-request.ts";

/** The session of the checked-out branch. */
export async function branchFinding(git: Git): Promise<Finding> {
  const branch = await currentBranch(git);
  if (branch === null)
    return skipped("No branch is checked out.", "Run this in a checkout, or name one with -C.");
  if (await isDefaultBranch(git, branch)) {
    return skipped(
      `${branch} is the default branch, so it has no session.`,
      "Each run on it gets its own session.",
    );
  }
  const session = await pinnedSession(git, branch);
  return session
    ? passed(`The branch ${branch} uses the session ${session}.`)
    : skipped(`The branch ${branch} has no session yet.`, "`tallygate run -- <agent>` gives it one.");
}

export type PullRequestUnderTest = {
  git: Git;
  github: GithubApi;
  number: number | null;
  url: string;
  admin: Secret | null;
};

/** One pull request from its body to the report: each check depends on the ones before it. */
export async function* pullRequestFindings(it: PullRequestUnderTest): AsyncGenerator<Finding> {
  const found = await locatePullRequest(it.git, it.github, { place: null, number: it.number });
  if (found === null) {
    return yield skipped("The branch has no pull request.", "Name another with --pr <number>.");
  }
  const line = readSessionLine(found.body);
  yield stampFinding(found, line);
  const [session] = line.ids;
  const branch = await currentBranch(it.git);
  const pinned = branch === found.branch ? await pinnedSession(it.git, found.branch) : null;
  if (line.verdict === "one" && pinned !== null && pinned !== session) {
    yield failed(
      `The pull request names ${session}, but the branch uses ${pinned}.`,
      `If both are the same task, run \`tallygate session --id ${session}\`; new calls then use that session.`,
    );
  }
  if (it.admin !== null) yield await knownFinding(it, found);
}

function stampFinding({ url }: PullRequest, { verdict, ids, diagnostics }: SessionLine): Finding {
  if (verdict === "one") return passed(`${url} is stamped ${ids[0]}.`);
  if (verdict === "conflict") {
    return failed(
      `${url} names ${ids.length} sessions (${ids.join(", ")}), so it has no cost.`,
      "Keep only one of these lines.",
    );
  }
  const advice = [...diagnosticMeanings(diagnostics), "Stamp it: `tallygate pr stamp`."].join(" ");
  return failed(`${url} is not stamped.`, advice);
}

const Known = open({
  link: Type.String(),
  reason: Type.String(),
  session_requests: Type.Integer(),
  session_cost_usd: nullable(Type.String()),
  session_cost_is_lower_bound: Type.Boolean(),
});

function costText(page: Static<typeof Known>): string {
  const calls = `${counted(page.session_requests, "call")}`;
  if (page.session_cost_usd === null) return `${calls} of unknown cost`;
  return `${calls}, ${page.session_cost_is_lower_bound ? "at least " : ""}USD ${page.session_cost_usd}`;
}

async function knownFinding({ url, admin }: PullRequestUnderTest, { repositoryId, number }: PullRequest) {
  if (admin === null)
    return skipped("The gateway's record of it was not checked.", "This check needs the admin key.");
  try {
    const page = await apiAt(url, admin).call("GET", `/admin/v1/pull-requests/${repositoryId}-${number}`);
    if (!fits(Known, page))
      return skipped("The gateway's answer about it could not be read.", "Is the gateway another version?");
    const cost = costText(page);
    if (page.link === "joined" || page.link === "open")
      return passed(`The gateway has it as ${page.link}: ${page.reason} (${cost})`);
    return failed(`The gateway has it as ${page.link}.`, page.reason);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
    return failed(
      "The gateway does not know this pull request.",
      "Do GitHub's webhooks reach the GitHub App, and is it installed on the repository? GitHub shows deliveries in the App's settings.",
    );
  }
}
