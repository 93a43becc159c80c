import type { LinkState } from "#drizzle/schema/github.ts";
import { type CostPart, costParts, type Stretch, taskStretches } from "#drizzle/session-cost.ts";
import type { PullRequestPage, PullRequestView } from "#shared/admin/pull-requests.ts";
import { keysOf } from "#shared/keys-of.ts";
import { DIAGNOSTIC_MEANING } from "#shared/session-line-meaning.ts";
import { sharedSessionText } from "#shared/shared-session.ts";
import { revertedBy } from "../reports/reverts.ts";
import {
  type PullRequestScope,
  type PullRequestShare,
  pullRequestShares,
} from "../stores/pull-request-rights.ts";
import {
  commitsReadAt,
  githubFeedbackOn,
  type PullRequestRevert,
  type PullRequestRow,
  repositoryReverts,
  sessionUse,
} from "../stores/pull-requests.ts";
import { findLinkFindings, type LinkFinding, linksTo } from "../stores/session-links.ts";
import { type AdminDeps, readDatabase } from "./deps.ts";
import { settlementOf } from "./settlement.ts";

type Finding = PullRequestPage["findings"][number];

/** A row, as far as the viewer sees it. */
export const pullRequestView = (
  row: PullRequestRow,
  { whole, cost }: PullRequestShare,
  now: Date,
): PullRequestView => ({
  id: `${row.repositoryId}-${row.number}`,
  repository: row.repository,
  repository_id: row.repositoryId,
  number: row.number,
  state: row.state,
  author: whole ? row.authorLogin : null,
  author_is_bot: whole && row.authorIsBot,
  opened_at: row.openedAt,
  merged_at: row.mergedAt,
  link: linkNow(row, cost),
  session: row.session,
  edited_after_merge: whole && row.editedAfterMerge,
  whole,
  ...costFacts(row, cost),
  settled: whole ? settlementOf(row, cost, now).settled : null,
});

/** As in reports, a named session joins with its first call, even before the GitHub App has stored it. */
const linkNow = ({ link }: PullRequestRow, cost: PullRequestShare["cost"]): PullRequestRow["link"] =>
  link === "unknown_session" && cost !== null && cost.requests > 0 ? "joined" : link;

function costFacts({ mergedAt, isClaim }: PullRequestRow, cost: PullRequestShare["cost"]) {
  const requests = cost?.requests ?? 0;
  // As in reports: unknown figures of a merge are null, not zero, and a claim has no cost.
  const isUnknown = isClaim || (mergedAt !== null && requests === 0);
  return {
    session_requests: requests,
    session_cost_usd: isUnknown ? null : (cost?.costUsd ?? null),
    session_cost_is_lower_bound: isUnknown || (cost?.isLowerBound ?? false),
    session_is_split: cost?.isSplit ?? false,
    session_subscription: cost?.subscription
      ? {
          requests: cost.subscription.requests,
          list_usd: cost.subscription.listUsd,
          is_lower_bound: cost.subscription.isLowerBound,
        }
      : null,
  };
}

/** A pull request with its session and reverts, and explanations of both, as far as the viewer sees it. */
export async function pullRequestPage(
  deps: AdminDeps,
  row: PullRequestRow,
  scope: PullRequestScope = null,
): Promise<PullRequestPage> {
  const shareOf = await readDatabase(deps, (db) => pullRequestShares(db, scope, [row]));
  const share = shareOf(row);
  const link = linkNow(row, share.cost);
  const now = deps.clock.now();
  return {
    ...pullRequestView(row, share, now),
    reason: MEANING[link],
    remedy: share.whole ? remedyOf({ ...row, link }) : null,
    settlement: share.whole ? settlementOf(row, share.cost, now) : null,
    ...(share.whole ? await detailsOf(deps, row) : NO_DETAILS),
  };
}

const NO_DETAILS = {
  ...{ findings: [], reverted: false, reverted_by: [], reverts: [], shown_at_github: [] },
  ...{ commits_read_at: null, sessions: [], models: [], days: [], stretches: [] },
  ...{ session_ids: [], session_owners: [], evidence: [] },
};

async function detailsOf(deps: AdminDeps, row: PullRequestRow) {
  const { session } = row;
  const zone = deps.directory.current().settings.report_time_zone;
  const use = session === null ? null : await readDatabase(deps, (db) => sessionUse(db, session));
  const links = session === null ? [] : await readDatabase(deps, (db) => findLinkFindings(db, session));
  const parts = session === null ? [] : await readDatabase(deps, (db) => costParts(db, row, zone));
  const stretches = session === null ? [] : await readDatabase(deps, (db) => taskStretches(db, row));
  const evidence = session === null ? [] : await readDatabase(deps, (db) => linksTo(db, session));
  const of = { isMerged: row.mergedAt !== null, isSplit: stretches.length > 0 };
  const shown = await readDatabase(deps, (db) => githubFeedbackOn(db, row));
  return {
    findings: [...bodyFindings(row), ...useFindings(use, of), ...links.map(linkFinding)],
    ...partsIn(parts, evidence),
    stretches: stretches.map(stretchView),
    ...revertsIn(row, await repositoryReverts(deps.database, row.repositoryId)),
    shown_at_github: shown.map(({ kind, shownAt, failure }) => ({ kind, shown_at: shownAt, failure })),
    commits_read_at: await readDatabase(deps, (db) => commitsReadAt(db, row)),
    session_ids: row.sessionIds,
    session_owners: ownersIn(parts),
    evidence: row.evidence.map(({ deliveryId, rule, sessionIds, diagnostics, at }) => ({
      delivery_id: deliveryId,
      rule,
      session_ids: sessionIds,
      diagnostics,
      at,
    })),
  };
}

const figures = ({ requests, costUsd, isLowerBound }: Omit<CostPart, "kind" | "name" | "declarer">) => ({
  requests,
  cost_usd: costUsd,
  is_lower_bound: isLowerBound,
});

const stretchView = ({ repository, branch, pullRequest, ...part }: Stretch) => ({
  ...{ repository, branch, pull_request: pullRequest?.replace("#", "-") ?? null },
  ...figures(part),
});

function partsIn(parts: readonly CostPart[], evidence: Awaited<ReturnType<typeof linksTo>>) {
  const of = (kind: CostPart["kind"]) => parts.filter((part) => part.kind === kind);
  const linkOf = ({ name, declarer }: CostPart) => {
    const link = evidence.find((it) => it.session === name && it.declarer === declarer);
    if (!link) return null;
    const { client, repository, branch, clone, declaredAt } = link;
    return { client, repository, branch, clone, declared_at: declaredAt };
  };
  const named = (part: CostPart) => ({ name: part.name, ...figures(part) });
  return {
    sessions: of("session").map((part) => ({
      session: part.name ?? "",
      declarer: part.declarer,
      link: linkOf(part),
      ...figures(part),
    })),
    models: of("model").map(named),
    days: of("day").map(named),
  };
}

const OWNERS_MAX = 20;
const ownersIn = (parts: readonly CostPart[]): string[] =>
  parts
    .flatMap(({ kind, name }) => (kind === "owner" && name !== null ? [name] : []))
    .toSorted()
    .slice(0, OWNERS_MAX);

/** Each state of a link in words. */
const MEANING = {
  open: "It is not merged yet.",
  joined:
    "It was merged, its body names exactly one session, and calls of that session are recorded. Its cost includes linked sessions; a session that an agent began with `/clear` counts once it commits or pushes on the branch, or is linked by hand.",
  no_stamp: "It was merged, and its body has no line `Gateway-Session: <id>`.",
  conflict: "It was merged, and its body names two or more different sessions, so none counts.",
  unknown_session: "It was merged and its body names one session, which has no recorded calls yet.",
  claimed:
    "It was merged and its body names one session, but its author comes from outside and does not own a key that the session used. It counts as a merge without a cost until an administrator accepts it.",
  not_merged: "It was closed without a merge.",
} as const satisfies Record<LinkState, string>;

/** What to do about it; a change of the body counts after the merge, too. */
function remedyOf({ link, sessionIds, repositoryId, number }: PullRequestRow): string | null {
  if (link === "claimed") {
    return `If the session is this work's, accept it with \`POST /admin/v1/pull-requests/${repositoryId}-${number}/accept\`.`;
  }
  if (link === "not_merged") return null;
  if (link === "unknown_session") {
    return "If no more calls will come, make calls send `x-session-id` with this id, or write the id that they sent into its body.";
  }
  if (sessionIds.length === 0) {
    return "Add one line `Gateway-Session: <session id>` to its body, with the id that the calls sent as `x-session-id`.";
  }
  if (sessionIds.length === 1) return null;
  return "Keep one of the `Gateway-Session:` lines in its body and remove the others.";
}

const OF_BODY = {
  session_is_claimed:
    "Its author comes from outside and does not own a key of the session that its body names. Once merged, it has no cost until an administrator accepts it.",
  edited_after_merge: "Its body was edited after the merge; the evidence shows what it said.",
};
/** What the present body has beside its ids, and whether it was changed late. */
function bodyFindings({ evidence, editedAfterMerge, isClaim, mergedAt }: PullRequestRow): Finding[] {
  const present = evidence.findLast(({ rule }) => rule.startsWith("body_"));
  const odd = keysOf(DIAGNOSTIC_MEANING).filter((code) => present?.diagnostics.includes(code));
  const holds = { session_is_claimed: isClaim && mergedAt === null, edited_after_merge: editedAfterMerge };
  const codes = [...odd, ...keysOf(holds).filter((code) => holds[code])];
  return codes.map((code) => ({ code, text: { ...DIAGNOSTIC_MEANING, ...OF_BODY }[code] }));
}

function useFindings(
  use: Awaited<ReturnType<typeof sessionUse>> | null,
  of: { isMerged: boolean; isSplit: boolean },
): Finding[] {
  if (use === null) return [];
  const { pullRequests: merged, people, keys } = use;
  const shared = sharedSessionText({ merged, ...of });
  const text = `Calls of its sessions came from ${keys} ${keys === 1 ? "key" : "keys"} and ${people} ${people === 1 ? "person" : "people"}.`;
  return [
    ...(shared === null ? [] : [{ code: "session_of_several_pull_requests", text: shared }]),
    ...(people > 1 || keys > 1 ? [{ code: "session_of_several_keys", text }] : []),
  ];
}

const linkFinding = ({ session, declarer, finding }: LinkFinding): Finding =>
  finding === "foreign_task"
    ? {
        code: "link_without_evidence",
        text: `${declarer} linked the session ${session} to this one without evidence of the same repository and branch. It does not count.`,
      }
    : {
        code: "calls_of_others_in_linked_session",
        text: `Calls of ${declarer} in the linked session ${session} do not count: only those of whoever declared the link do.`,
      };

/** The reverts around one pull request, of all those in its repository. */
function revertsIn({ repositoryId, number }: PullRequestRow, all: readonly PullRequestRevert[]) {
  const reverted = new Set(
    revertedBy(all.map((it) => ({ reverter: String(it.reverter), original: String(it.original) }))),
  );
  const view = (it: PullRequestRevert, other: number) => ({
    id: `${repositoryId}-${other}`,
    number: other,
    rule: it.rule,
    stands: !reverted.has(String(it.reverter)),
  });
  return {
    reverted: reverted.has(String(number)),
    reverted_by: all.filter((it) => it.original === number).map((it) => view(it, it.reverter)),
    reverts: all.filter((it) => it.reverter === number).map((it) => view(it, it.original)),
  };
}
