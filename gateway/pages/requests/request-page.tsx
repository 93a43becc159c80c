import { Link, useParams } from "@tanstack/react-router";
import type { RequestPage as RecordPage } from "#shared/admin/records.ts";
import { useJson } from "../data/api.ts";
import { OF_RECORDS } from "../data/follow-records.ts";
import { count, duration } from "../parts/format.ts";
import { Answered, Facts, PageHead, Panel, Tiles } from "../parts/page.tsx";
import { CopyId, shortId } from "../parts/short-id.tsx";
import { Foreign, Moment, Money } from "../parts/values.tsx";
import { PullRequestsOf, SessionLink } from "../sessions/session-link.tsx";
import { CostLines } from "./cost-lines.tsx";
import { RequestState } from "./request-columns.tsx";

/** One record: its labels, its time, its tokens, and why it costs what it costs. */
export function RequestPage() {
  const { id = "" } = useParams({ strict: false });
  const record = useJson<RecordPage>(["request", id], `/admin/v1/requests/${encodeURIComponent(id)}`, {
    meta: OF_RECORDS,
  });
  return (
    <>
      <PageHead
        title={`Request ${shortId(id)}`}
        sub={
          <>
            <Link to="/requests">All requests</Link> · {id}
            {"\u00a0"}
            <CopyId id={id} what="record's id" />
          </>
        }
      />
      <Answered query={record} height={600}>
        {(row) => <Whole row={row} />}
      </Answered>
    </>
  );
}

function Whole({ row }: { row: RecordPage }) {
  return (
    <>
      <Tiles
        of={{
          Cost: (
            <strong>
              <Money
                value={row.cost_usd}
                floor={row.partial}
                ceiling={row.ceiling}
                unknown={row.cost.reason}
              />
            </strong>
          ),
          State: <RequestState row={row} />,
          Started: <Moment at={row.started_at} form="long" />,
          "Session, pull request": (
            <span>
              <SessionLink session={row.session} />
              {row.session !== null && <PullRequestsOf session={row.session} />}
            </span>
          ),
        }}
      />
      <Panel title="Why it cost this" sub={row.cost.reason}>
        <CostLines cost={row.cost} total={row.cost_usd} floor={row.partial} />
      </Panel>
      <Panel title="Time">
        <Timing latencyMs={row.latency_ms} ttftMs={row.ttft_ms} />
      </Panel>
      <div className="two">
        <Panel title="Labels">
          <Labels row={row} />
        </Panel>
        <Panel title="Tokens and units">
          <TokensByKind row={row} />
        </Panel>
      </div>
    </>
  );
}

type TimingProps = { latencyMs: number | null; ttftMs: number | null };

/** From the complete request to the last byte of the answer. */
function Timing({ latencyMs, ttftMs }: TimingProps) {
  if (latencyMs === null) return <p className="mute">The time of this call was not measured.</p>;
  const phases =
    ttftMs === null
      ? [{ name: "Whole answer", ms: latencyMs, color: "var(--s1)" }]
      : [
          { name: "Until the first content", ms: ttftMs, color: "var(--s2)" },
          { name: "Stream", ms: Math.max(latencyMs - ttftMs, 0), color: "var(--s1)" },
        ];
  return (
    <>
      <div className="timing" aria-hidden="true">
        {phases.map(({ name, ms, color }) => (
          <span key={name} style={{ background: color, flexGrow: Math.max(ms, latencyMs / 200) }} />
        ))}
      </div>
      <ul className="legend" style={{ marginTop: 8 }}>
        {phases.map(({ name, ms, color }) => (
          <li key={name}>
            <span className="swatch" style={{ background: color }} />
            {name}: {duration(ms)}
          </li>
        ))}
        {phases.length > 1 && <li>Total: {duration(latencyMs)}</li>}
      </ul>
    </>
  );
}

const KINDS = [
  ["input_tokens", "Input tokens"],
  ["uncached_input_tokens", "of which not from cache"],
  ["cache_read_tokens", "of which read from cache"],
  ["cache_read_audio_tokens", "of these audio"],
  ["cache_write_5m_tokens", "of which written to cache for 5 minutes"],
  ["cache_write_1h_tokens", "of which written to cache for an hour"],
  ["audio_input_tokens", "of which audio"],
  ["image_input_tokens", "of which images"],
  ["output_tokens", "Output tokens"],
  ["reasoning_tokens", "of which reasoning"],
  ["audio_output_tokens", "of which audio"],
  ["image_output_tokens", "of which images"],
  ["images", "Images"],
  ["characters", "Characters"],
  ["documents", "Documents"],
  ["search_units", "Search units"],
  ["web_searches", "Web searches"],
  ["search_sources", "Search sources"],
  ["file_searches", "Searches of stored files"],
] as const satisfies readonly (readonly [keyof RecordPage, string])[];

/** What was counted; what was not is left out. */
function TokensByKind({ row }: { row: RecordPage }) {
  const known = KINDS.filter(([name]) => row[name] !== null);
  if (known.length === 0) return <p className="mute">The provider reported no usage for this call.</p>;
  return <Facts of={known.map(([name, words]) => [words, count(row[name] ?? 0)] as const)} />;
}

/** A label, the filter of the list that finds its like, and what it is called. */
const LABELS = [
  ["model", "model", "Model"],
  ["response_model", null, "Model that answered"],
  ["provider", "provider", "Provider"],
  ["service_tier", null, "Service tier"],
  ["route", "route", "Route"],
  ["route_source", null, "Route chosen by"],
  ["owner", "owner", "Person"],
  ["user_label", "user", "User label"],
  ["team", "team", "Team"],
  ["cost_center", null, "Cost centre"],
  ["key_name", "key", "Key"],
  ["client", "client", "Client"],
  ["session", "session", "Session"],
  ["agent_session", null, "Agent's own session"],
  ["parent_session", "session", "Session of the agent that began it"],
  ["surface", "surface", "Surface"],
  ["channel", "channel", "Channel"],
  ["guardrail", "guardrail", "Guardrail"],
  ["error_type", "error_type", "Error"],
  ["error_cause", "error_cause", "Cause"],
  ["provider_request_id", "provider_request_id", "Provider's request id"],
  ["usage_source", null, "Usage from"],
  ["attempts", null, "Attempts"],
] as const satisfies readonly (readonly [keyof RecordPage, string | null, string])[];

function Labels({ row }: { row: RecordPage }) {
  const labels = LABELS.map(([name, filter, words]) => [words, row[name] ?? null, filter] as const);
  const linked = (value: string, filter: string | null) =>
    filter === null ? <Foreign text={value} /> : <LabelLink filter={filter} value={value} />;
  return (
    <Facts
      of={[
        ...labels.map(([words, it, filter]) => [words, it && linked(String(it), filter)] as const),
        [
          "Tags",
          row.tags.length > 0 &&
            row.tags.map((tag) => <LabelLink key={tag} filter="tag" value={tag} className="tag" />),
        ],
      ]}
    />
  );
}

type LabelLinkProps = { filter: string; value: string; className?: string };

const LabelLink = ({ filter, value, className = "" }: LabelLinkProps) => (
  <Link to="/requests" search={{ [filter]: value }} className={className}>
    <Foreign text={value} />
  </Link>
);
