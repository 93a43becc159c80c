import { Button, SegmentedControl } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Me, OwnSession } from "#shared/admin/me.ts";
import type { MeasureName, RangeName, Result, Unit } from "#shared/report.ts";
import { useAddress } from "../data/address.ts";
import { getJson, sendJson } from "../data/api.ts";
import { oneNameOf } from "../data/search.ts";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { plainName } from "../parts/foreign.tsx";
import { Money } from "../parts/money.tsx";
import { PageHead, Panel } from "../parts/page-head.tsx";
import { ReportTable } from "../parts/report-table.tsx";
import { Answered, Empty, Fault } from "../parts/states.tsx";
import { momentColumn, textColumn } from "../settings/cells.tsx";
import { ConnectAgent } from "./connect-agent.tsx";
import { OwnKeys } from "./own-keys.tsx";

const OWN = {
  queryKey: ["own"],
  queryFn: () => getJson<Me>("/v1/me"),
  refetchInterval: 10_000,
} as const;

/** A person's own spend this month, keys and sessions, and how to connect an agent. */
export function MePage() {
  const query = useQuery(OWN);
  return (
    <>
      <PageHead title="My usage" />
      <Answered query={query}>
        {(me) => (
          <>
            <Month me={me} />
            <OwnUsage />
            <OwnKeys keys={me.keys} />
            <ConnectAgent />
            <OwnSessions sessions={me.sessions} />
          </>
        )}
      </Answered>
    </>
  );
}

const Month = ({ me: { month, email, team, role } }: { me: Me }) => (
  <Panel
    title="This month"
    sub={`${plainName(email)}, ${role}${team === null ? "" : ` of ${plainName(team)}`}`}
  >
    <dl className="facts">
      <dt>Spent</dt>
      <dd>
        <Money value={month.cost_usd} floor={month.floor} />
      </dd>
      {month.budget_usd !== undefined && (
        <>
          <dt>Budget</dt>
          <dd>
            <Money value={month.budget_usd} />
          </dd>
          <dt>Left</dt>
          <dd>
            <Money value={month.budget_left_usd} />
          </dd>
        </>
      )}
    </dl>
  </Panel>
);

const columns = (end: (id: string) => void): Column<OwnSession>[] => [
  textColumn("browser", "Browser", { of: ({ user_agent: agent }) => agent, none: "unknown" }),
  textColumn("address", "Address", { of: ({ address }) => address, none: "unknown" }),
  momentColumn("since", "Since", { of: ({ created_at: at }) => at, none: "" }),
  momentColumn("until", "Ends", { of: ({ expires_at: at }) => at, none: "" }),
  {
    id: "end",
    head: "",
    cell: ({ id, current }) =>
      current ? (
        <span className="mute">this one</span>
      ) : (
        <Button size="compact-sm" variant="default" onClick={() => end(id)}>
          End
        </Button>
      ),
  },
];

/** Where one is signed in, and a way to end it. */
function OwnSessions({ sessions }: { sessions: readonly OwnSession[] }) {
  const client = useQueryClient();
  const [error, setError] = useState<unknown>(null);
  const end = (id: string) =>
    void sendJson(`/v1/me/sessions/${encodeURIComponent(id)}`, { method: "DELETE" })
      .then(() => client.invalidateQueries({ queryKey: ["own"] }))
      .catch(setError);
  return (
    <Panel title="Signed in" sub="End any session that you do not recognise or no longer need.">
      {error !== null && <Fault error={error} />}
      <DataTable label="Sessions" columns={columns(end)} rows={sessions} rowKey={({ id }) => id} />
    </Panel>
  );
}

const GROUPS = ["day", "model", "client", "session"] as const;
const RANGES = ["mtd", "7d", "30d", "last_month"] as const satisfies readonly RangeName[];
const RANGE_WORDS = {
  mtd: "This month",
  "7d": "7 days",
  "30d": "30 days",
  last_month: "Last month",
} as const;
const UNITS: Readonly<Partial<Record<MeasureName, Unit>>> = { cost_usd: "USD" };

const readSearch = (raw: Record<string, unknown>) => ({
  by: oneNameOf(GROUPS, raw["by"]) ?? "day",
  range: oneNameOf(RANGES, raw["range"]) ?? "mtd",
});

/** Own calls by day, model, client or session. */
function OwnUsage() {
  const [{ by, range }, change] = useAddress(readSearch);
  const query = useQuery({
    queryKey: ["own", "usage", by, range],
    queryFn: ({ signal }) => getJson<Result>(`/v1/me/usage?by=${by}&range=${range}`, signal),
  });
  return (
    <Panel title="My calls">
      <div className="controls">
        <SegmentedControl
          aria-label="Group by"
          value={by}
          onChange={(value) => change({ by: oneNameOf(GROUPS, value) })}
          data={[...GROUPS]}
        />
        <SegmentedControl
          aria-label="Range"
          value={range}
          onChange={(value) => change({ range: oneNameOf(RANGES, value) })}
          data={RANGES.map((value) => ({ value, label: RANGE_WORDS[value] }))}
        />
      </div>
      <Answered query={query}>
        {(result) =>
          result.rows.length === 0 ? (
            <Empty title="No calls in this range">Connect an agent below, or choose a longer range.</Empty>
          ) : (
            <ReportTable result={result} title="My calls" units={UNITS} />
          )
        }
      </Answered>
    </Panel>
  );
}
