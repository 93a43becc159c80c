import { type Static, Type } from "@sinclair/typebox";
import { closed, Flag, FlagOrNull, Integer, NumeralOrNull, nullable, Text, TextOrNull } from "../schema.ts";

const AnyText = nullable(Type.String());

const pullRequest = {
  id: Text("`<repository id>-<number>`"),
  repository: AnyText,
  repository_id: Type.Integer(),
  number: Type.Integer(),
  state: Type.String(),
  author: AnyText,
  author_is_bot: Type.Boolean(),
  opened_at: AnyText,
  merged_at: AnyText,
  link: Text(
    "State of its session: `open`, `joined`, `no_stamp`, `conflict`, `unknown_session`, `claimed` or `not_merged`.",
  ),
  session: TextOrNull("The session, if the body names exactly one."),
  edited_after_merge: Type.Boolean(),
  whole: Flag(
    "Whether you see all of it. If false, calls and cost are your own part (or your team's), and its author, owners, findings and evidence are left out.",
  ),
  session_requests: Integer("Records of its session."),
  session_cost_usd: TextOrNull(
    "Their known cost without subscription calls, exact decimal. Null if nothing is known, or its author only claims the session.",
  ),
  session_cost_is_lower_bound: Flag(
    "Like `floor` in reports: a cost is unknown, or no call has a known cost.",
  ),
  session_is_split: Flag(
    "Whether only calls on its branch count, so that its cost adds to others' of the session.",
  ),
  session_subscription: nullable(
    closed({
      requests: Integer("Its calls that a caller's own subscription paid."),
      list_usd: TextOrNull("Their list price, exact decimal; never part of the cost. Null: unknown."),
      is_lower_bound: Flag("Whether some list price is unknown."),
    }),
  ),
  settled: FlagOrNull(
    "False if its cost can still change; its own page says why. Null: you see only a part of it.",
  ),
};
export const PullRequestView = closed(pullRequest);
export type PullRequestView = Static<typeof PullRequestView>;

const Factor = closed({
  name: Text(
    "`calls`, `sessions`, `subagents` and `retries` (attempts after the first, and failed calls): counts; `context`: input tokens per call.",
  ),
  value: Type.Number(),
  usual: NumeralOrNull("The median of up to 100 other merges of its repository; null without any."),
});

export const DearMergeView = closed({
  ...pullRequest,
  usual_usd: TextOrNull("Median cost of the merges of its repository in the same time, exact decimal."),
  model: TextOrNull("The model that cost most."),
  model_cost_usd: AnyText,
  factors: Type.Array(Factor),
});
export type DearMergeView = Static<typeof DearMergeView>;

const Revert = closed({
  id: Text("`<repository id>-<number>` of the other one."),
  number: Type.Integer(),
  rule: Text(
    "The evidence: `body` (Reverts #N), `branch` (revert-N-…), `body_sha` or `commit_sha` (This reverts commit …).",
  ),
  stands: Flag("False if the revert itself was reverted."),
});

const part = {
  requests: Type.Integer(),
  cost_usd: TextOrNull("Exact decimal, without subscription calls. Null: unknown."),
  is_lower_bound: Type.Boolean(),
};
const Part = closed({ name: TextOrNull("Null: none."), ...part });
const SessionPart = closed({
  session: Type.String(),
  declarer: TextOrNull("Whose calls count, by their own link; null: the session that the body names."),
  link: nullable(
    closed({
      client: Text("The client that declared the link."),
      repository: AnyText,
      branch: AnyText,
      clone: AnyText,
      declared_at: Type.String(),
    }),
  ),
  ...part,
});

/** Whether a cost can still change, and why. Null unless the viewer sees all of the pull request. */
const Settlement = closed({
  settled: Flag("False if there is a reason why its cost can still change."),
  data_until: TextOrNull(
    "When the latest call that counts was made, to the quarter of an hour if its sessions are split. Null: no call counts.",
  ),
  reasons: Type.Array(
    closed({
      code: Text("`not_merged_yet`, `open_stretch`, `late_calls` or `lower_bound`."),
      text: Type.String(),
    }),
  ),
});

/** A pull request's own page: why it is joined or not, and what its session cost. */
export const PullRequestPage = closed({
  ...pullRequest,
  reason: Text("Why it is joined or not, in a sentence."),
  remedy: TextOrNull("What to do, if anything."),
  findings: Type.Array(
    closed({
      code: Type.String(),
      text: Text("What it means, for people."),
    }),
    {
      description: "Anything unusual: malformed lines, a late edit, a session that others also use.",
    },
  ),
  settlement: nullable(Settlement),
  sessions: Type.Array(SessionPart, {
    description:
      "Its session and the sessions linked to it. They add up to the cost; so do `models` and `days`.",
  }),
  stretches: Type.Array(
    closed({
      repository: AnyText,
      branch: TextOrNull("Null: calls that no context covers."),
      pull_request: TextOrNull("`<repository id>-<number>` that they count for. Null: none."),
      ...part,
    }),
    {
      description:
        "All calls of its sessions by the branch that they worked on, if agents declared it. Each counts for one pull request at most; empty: nothing was declared, and all of them count for each pull request that names the session.",
    },
  ),
  models: Type.Array(Part),
  days: Type.Array(Part, { description: "Days in the report time zone." }),
  reverted: Type.Boolean(),
  reverted_by: Type.Array(Revert, { description: "Merged pull requests that revert this one." }),
  reverts: Type.Array(Revert, { description: "Merged pull requests that this one reverts." }),
  shown_at_github: Type.Array(
    closed({
      kind: Text("`check` or `comment`."),
      shown_at: TextOrNull("Null: not yet."),
      failure: TextOrNull("Class of the last failure."),
    }),
    { description: "What the App shows of it there." },
  ),
  commits_read_at: TextOrNull("When its commits were read for reverts; null if not yet."),
  session_ids: Type.Array(Type.String(), { description: "Distinct session ids in its body." }),
  session_owners: Type.Array(Type.String(), { description: "Owners of the keys that its session used." }),
  evidence: Type.Array(
    closed({
      delivery_id: TextOrNull("Null if a record of the gateway decided."),
      rule: Type.String(),
      session_ids: Type.Array(Type.String()),
      diagnostics: Type.Array(Type.String()),
      at: Type.String(),
    }),
  ),
});
export type PullRequestPage = Static<typeof PullRequestPage>;
