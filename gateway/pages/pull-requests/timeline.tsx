import { useQueries } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Page } from "#shared/admin/fields.ts";
import type { PullRequestPage } from "#shared/admin/pull-requests.ts";
import type { RequestView } from "#shared/admin/records.ts";
import type { ToolCallView } from "#shared/admin/tool-calls.ts";
import { getJson, queryOf } from "../data/api.ts";
import { OF_RECORDS } from "../data/follow-records.ts";
import { Panel } from "../parts/page.tsx";
import { Foreign, Moment, Money, plainName } from "../parts/values.tsx";

type Happening = { key: string; at: string; what: ReactNode; aside?: ReactNode };

/** What happened, in order: its sessions' calls and tool calls, the opening, the merge, what decided the link. */
export function Timeline({ details, session }: { details: PullRequestPage; session: string }) {
  const sessions = [...new Set([session, ...details.sessions.map((it) => it.session)])];
  const calls = useLatest<RequestView>("requests", sessions);
  const tools = useLatest<ToolCallView>("tool-calls", sessions);
  const happenings = [...calls.map(ofCall), ...tools.map(ofTool), ...ofPullRequest(details)].toSorted(
    (a, b) => a.at.localeCompare(b.at),
  );
  return (
    <Panel title="Timeline" sub="The calls of its sessions, and what GitHub reported.">
      <ol className="plain-list" style={{ maxHeight: "max(480px, calc(100vh - 160px))", overflow: "auto" }}>
        {happenings.map(({ key, at, what, aside }) => (
          <li key={key} className="timeline-row">
            <span className="mute">
              <Moment at={at} />
            </span>
            <span>{what}</span>
            <span className="number">{aside}</span>
          </li>
        ))}
      </ol>
    </Panel>
  );
}

/** A longer timeline would not help readers. */
const SESSIONS_MAX = 10;
const CALLS_MAX = 500;

const useLatest = <T,>(path: "requests" | "tool-calls", sessions: readonly string[]): T[] =>
  useQueries({
    queries: sessions.slice(0, SESSIONS_MAX).map((session) => ({
      queryKey: ["session", path, session],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        getJson<Page<T>>(`/admin/v1/${path}${queryOf({ session, limit: CALLS_MAX })}`, signal),
      meta: OF_RECORDS,
    })),
    combine: (answers) => answers.flatMap(({ data }) => data?.data ?? []),
  });

const ofCall = ({ id, started_at: at, model, client, channel, ...cost }: RequestView): Happening => ({
  key: id,
  at,
  what: (
    <Link to="/requests/$id" params={{ id }}>
      Call of <Foreign text={model ?? "no model"} />
      <span className="mute">
        {" by "}
        <Foreign text={client} />
        {channel === "subscription" && " on a subscription, list price"}
      </span>
    </Link>
  ),
  aside: <Money value={cost.cost_usd} floor={cost.partial} />,
});

const STATUS_WORDS: Readonly<Record<string, string>> = {
  ok: "succeeded",
  pending: "running",
  unknown: "end not known",
};

const ofTool = ({ id, started_at: at, server, tool, status }: ToolCallView): Happening => ({
  key: id,
  at,
  what: (
    <>
      Tool <Foreign text={tool ?? "without a name"} />
      {server !== null && (
        <span className="mute">
          {" of "}
          <Foreign text={server} />
        </span>
      )}
    </>
  ),
  aside: <span className="tag">{STATUS_WORDS[status] ?? status}</span>,
});

/** What decided about its session, in words. */
const RULE_WORDS: Readonly<Record<string, string>> = {
  body_none: "Its body names no session",
  body_one: "Its body names one session",
  body_conflict: "Its body names several sessions",
  request_known: "First call of its session",
  merged: "GitHub reported the merge",
  edited_after_merge: "Its body was edited after the merge",
  claim_accepted: "An administrator accepted its session",
};

function ofPullRequest({ opened_at: opened, merged_at: merged, evidence }: PullRequestPage): Happening[] {
  return [
    ...(opened ? [{ key: "opened", at: opened, what: <b>Opened on GitHub</b> }] : []),
    ...(merged ? [{ key: "merged", at: merged, what: <b>Merged</b> }] : []),
    ...evidence.map(({ rule, at }, i) => ({
      key: `evidence ${i}`,
      at,
      what: <span className="mute">{RULE_WORDS[rule] ?? plainName(rule.replaceAll("_", " "))}</span>,
    })),
  ];
}
