import { type Static, Type } from "@sinclair/typebox";
import { closed, nullable } from "../schema.ts";

const Text = nullable(Type.String());

const pullRequest = {
  id: Type.String({ description: "`<repository id>-<number>`" }),
  repository: Text,
  repository_id: Type.Integer(),
  number: Type.Integer(),
  state: Type.String(),
  author: Text,
  author_is_bot: Type.Boolean(),
  opened_at: Text,
  merged_at: Text,
  link: Type.String({
    description:
      "State of its session: `open`, `joined`, `no_stamp`, `conflict`, `unknown_session`, `claimed` or `not_merged`.",
  }),
  session: nullable(Type.String({ description: "The session, if the body names exactly one." })),
  edited_after_merge: Type.Boolean(),
  whole: Type.Boolean({
    description:
      "Whether you see all of it. If false, calls and cost are your own part (or your team's), and its author, owners, findings and evidence are left out.",
  }),
  session_requests: Type.Integer({ description: "Records of its session." }),
  session_cost_usd: nullable(
    Type.String({
      description: "Their known cost without subscription calls, exact decimal. Null if nothing is known.",
    }),
  ),
  session_cost_is_lower_bound: Type.Boolean({
    description: "Like `floor` in reports: a cost is unknown, or no call has a known cost.",
  }),
  session_subscription: nullable(
    closed({
      requests: Type.Integer({ description: "Its calls that a caller's own subscription paid." }),
      list_usd: nullable(
        Type.String({
          description: "Their list price, exact decimal; never part of the cost. Null: unknown.",
        }),
      ),
      is_lower_bound: Type.Boolean({ description: "Whether some list price is unknown." }),
    }),
  ),
  settled: nullable(
    Type.Boolean({
      description:
        "False if its cost can still change; its own page says why. Null: you see only a part of it.",
    }),
  ),
};
export const PullRequestView = closed(pullRequest);
export type PullRequestView = Static<typeof PullRequestView>;

const Factor = closed({
  name: Type.String({
    description:
      "`calls`, `sessions`, `subagents` and `retries` (attempts after the first, and failed calls): counts; `context`: input tokens per call.",
  }),
  value: Type.Number(),
  usual: nullable(
    Type.Number({
      description: "The median of up to 100 other merges of its repository; null without any.",
    }),
  ),
});

/** A merge among the dearest, and what sets it apart. */
export const DearMergeView = closed({
  ...pullRequest,
  usual_usd: nullable(
    Type.String({
      description: "Median cost of the merges of its repository in the same time, exact decimal.",
    }),
  ),
  model: nullable(Type.String({ description: "The model that cost most." })),
  model_cost_usd: Text,
  factors: Type.Array(Factor),
});
export type DearMergeView = Static<typeof DearMergeView>;

const Revert = closed({
  id: Type.String({ description: "`<repository id>-<number>` of the other one." }),
  number: Type.Integer(),
  rule: Type.String({
    description:
      "The evidence: `body` (Reverts #N), `branch` (revert-N-…), `body_sha` or `commit_sha` (This reverts commit …).",
  }),
  stands: Type.Boolean({ description: "False if the revert itself was reverted." }),
});

const part = {
  requests: Type.Integer(),
  cost_usd: nullable(
    Type.String({ description: "Exact decimal, without subscription calls. Null: unknown." }),
  ),
  is_lower_bound: Type.Boolean(),
};
const Part = closed({ name: nullable(Type.String({ description: "Null: none." })), ...part });
const SessionPart = closed({
  session: Type.String(),
  declarer: nullable(
    Type.String({
      description: "Whose calls count, by their own link; null: the session that the body names.",
    }),
  ),
  link: nullable(
    closed({
      client: Type.String({ description: "The client that declared the link." }),
      repository: Text,
      branch: Text,
      clone: Text,
      declared_at: Type.String(),
    }),
  ),
  ...part,
});

/** Whether a cost can still change, and why. Null unless the viewer sees all of the pull request. */
const Settlement = closed({
  settled: Type.Boolean({ description: "False if there is a reason why its cost can still change." }),
  data_until: nullable(
    Type.String({
      description:
        "When the latest call that counts was made, to the quarter of an hour if its sessions are split. Null: no call counts.",
    }),
  ),
  reasons: Type.Array(
    closed({
      code: Type.String({ description: "`not_merged_yet`, `open_stretch`, `late_calls` or `lower_bound`." }),
      text: Type.String(),
    }),
  ),
});

/** A pull request's own page: why it is joined or not, and what its session cost. */
export const PullRequestPage = closed({
  ...pullRequest,
  reason: Type.String({ description: "Why it is joined or not, in a sentence." }),
  remedy: nullable(Type.String({ description: "What to do, if anything." })),
  findings: Type.Array(
    closed({
      code: Type.String(),
      text: Type.String({ description: "What it means, for people." }),
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
      repository: Text,
      branch: nullable(Type.String({ description: "Null: calls that no context covers." })),
      pull_request: nullable(
        Type.String({ description: "`<repository id>-<number>` that they count for. Null: none." }),
      ),
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
      kind: Type.String({ description: "`check` or `comment`." }),
      shown_at: nullable(Type.String({ description: "Null: not yet." })),
      failure: nullable(Type.String({ description: "Class of the last failure." })),
    }),
    { description: "What the App shows of it there." },
  ),
  commits_read_at: nullable(
    Type.String({ description: "When its commits were read for reverts; null if not yet." }),
  ),
  session_ids: Type.Array(Type.String(), { description: "Distinct session ids in its body." }),
  session_owners: Type.Array(Type.String(), { description: "Owners of the keys that its session used." }),
  evidence: Type.Array(
    closed({
      delivery_id: nullable(Type.String({ description: "Null if a record of the gateway decided." })),
      rule: Type.String(),
      session_ids: Type.Array(Type.String()),
      diagnostics: Type.Array(Type.String()),
      at: Type.String(),
    }),
  ),
});
export type PullRequestPage = Static<typeof PullRequestPage>;
