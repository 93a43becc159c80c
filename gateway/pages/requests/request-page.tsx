import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import type { RequestPage as RecordPage } from "#shared/admin/records.ts";
import { getJson } from "../data/api.ts";
import { CopyButton } from "../parts/copy.tsx";
import { Moment } from "../parts/moment.tsx";
import { Money } from "../parts/money.tsx";
import { PageHead, Panel } from "../parts/page-head.tsx";
import { Answered } from "../parts/states.tsx";
import { CostLines } from "./cost-lines.tsx";
import { Labels } from "./labels.tsx";
import { RequestState } from "./request-state.tsx";
import { Timing } from "./timing.tsx";
import { TokensByKind } from "./tokens-by-kind.tsx";

/** One record: its labels, its time, its tokens, and why it costs what it costs. */
export function RequestPage() {
  const { id = "" } = useParams({ strict: false });
  const record = useQuery({
    queryKey: ["request", id],
    queryFn: ({ signal }) => getJson<RecordPage>(`/admin/v1/requests/${encodeURIComponent(id)}`, signal),
  });
  return (
    <>
      <PageHead title="Requests" sub={<Link to="/requests">All requests</Link>}>
        <CopyButton text={id} label="Copy the record's id" />
      </PageHead>
      <Answered query={record} height={600}>
        {(row) => <Whole row={row} />}
      </Answered>
    </>
  );
}

function Whole({ row }: { row: RecordPage }) {
  return (
    <>
      <div className="tiles">
        <section className="tile" aria-label="Cost">
          <div className="tile-name">Cost</div>
          <div className="tile-figure">
            <strong>
              <Money
                value={row.cost_usd}
                floor={row.partial}
                ceiling={row.ceiling}
                unknown={row.cost.reason}
              />
            </strong>
          </div>
        </section>
        <section className="tile" aria-label="State">
          <div className="tile-name">State</div>
          <div className="tile-figure">
            <RequestState row={row} />
          </div>
        </section>
        <section className="tile" aria-label="Started">
          <div className="tile-name">Started</div>
          <div className="tile-figure">
            <Moment at={row.started_at} form="long" />
          </div>
        </section>
        <section className="tile" aria-label="Attempts">
          <div className="tile-name">Attempts</div>
          <div className="tile-figure">
            <strong>{row.attempts}</strong>
          </div>
        </section>
      </div>
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
        <Panel title="Tokens and pieces">
          <TokensByKind row={row} />
        </Panel>
      </div>
    </>
  );
}
