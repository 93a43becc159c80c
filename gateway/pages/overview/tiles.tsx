import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { MeasureName } from "#shared/report.ts";
import type { QueryAnswer } from "#shared/report-query.ts";
import { type OverviewParts, spelledOut } from "../data/overview.ts";
import { type FrameSearch, withoutFilters } from "../data/search.ts";
import { Change, type Direction } from "../parts/change.tsx";
import { singleSeries } from "../parts/charts/data.ts";
import { Sparkline } from "../parts/charts/sparkline.tsx";
import { count, counted, percent } from "../parts/format.ts";
import { Measured, Money } from "../parts/money.tsx";
import { timesOf } from "../parts/records-link.tsx";

type TilesProps = { parts: OverviewParts; search: FrameSearch };

/** The four figures that answer the page's question. */
export function Tiles({ parts, search }: TilesProps) {
  const { days, repositories, merge_days: mergeDays } = parts;
  const spend = days?.total;
  const merged = repositories?.total;
  const asked = spelledOut(search);
  const ofMerges = repositories ? asked : withoutFilters(asked);
  return (
    <div className="tiles">
      <Tile
        name="Spend"
        trend={trendOf(days, "cost_usd")}
        change={changeOf(days, "cost_usd", "worse")}
        foot={<UnpricedFoot result={days} />}
        figure={
          <Money
            value={spend?.current?.cost_usd ?? null}
            floor={spend?.floor ?? false}
            ceiling={days?.ceiling ?? false}
          />
        }
        to={
          <Link to="/reports/$id" params={{ id: "spend-by-model" }} search={asked}>
            Spend
          </Link>
        }
      />
      <Tile
        name="Cost per merged pull request"
        trend={trendOf(mergeDays, "cost_per_merged_pr")}
        change={changeOf(repositories, "cost_per_merged_pr", "worse")}
        figure={
          <Money
            value={merged?.current?.cost_per_merged_pr ?? null}
            floor={merged?.floor ? MERGES_FLOOR : false}
            unknown="No pull request was merged, or none is joined to a session."
          />
        }
        to={
          <Link to="/reports/$id" params={{ id: "cost-per-merged-pr" }} search={ofMerges}>
            Cost per merged pull request
          </Link>
        }
      />
      <Tile
        name="Merged pull requests"
        trend={trendOf(mergeDays, "merged_prs")}
        change={changeOf(repositories, "merged_prs", "better")}
        foot={<JoinedFoot result={repositories} />}
        figure={<Measured unit="count" value={merged?.current?.merged_prs ?? null} />}
        to={
          <Link to="/pull-requests" search={{ state: "merged", ...(repositories && timesOf(repositories)) }}>
            Merged pull requests
          </Link>
        }
      />
      <Tile
        name="Active people"
        trend={trendOf(days, "users")}
        change={changeOf(days, "users", "neutral")}
        foot={<HoursFoot result={days} />}
        figure={<Measured unit="count" value={spend?.current?.users ?? null} />}
        to={
          <Link to="/reports/$id" params={{ id: "spend-by-person" }} search={asked}>
            Active people
          </Link>
        }
      />
    </div>
  );
}

const MERGES_FLOOR =
  "At least this: some merges have no known session, or some of their calls no known cost.";

type TileProps = {
  name: string;
  figure: ReactNode;
  trend: readonly (number | null)[];
  change: ReactNode;
  foot?: ReactNode;
  /** Its name as a link to what is behind it. */
  to: ReactNode;
};

const Tile = ({ name, figure, trend, change, foot, to }: TileProps) => (
  <section className="tile" aria-label={name}>
    <div className="tile-name">{to}</div>
    <div className="tile-figure">
      <strong>{figure}</strong>
      <Sparkline values={trend} />
    </div>
    <div className="tile-foot">
      {change}
      {foot}
    </div>
  </section>
);

const trendOf = (result: QueryAnswer | undefined, measure: MeasureName): readonly (number | null)[] =>
  (result && singleSeries({ result, measure, unit: "count" }).series[0]?.values) ?? [];

function changeOf(result: QueryAnswer | undefined, measure: MeasureName, more: Direction): ReactNode {
  if (!result?.previousWindow) return null;
  const { current, previous } = result.total;
  return <Change current={current?.[measure]} previous={previous?.[measure]} more={more} />;
}

function UnpricedFoot({ result }: { result: QueryAnswer | undefined }) {
  const { unpriced_requests: unpriced, requests } = result?.total.current ?? {};
  if (!unpriced || !requests) return null;
  return (
    <>
      {" "}
      · {count(unpriced)} of {counted(requests, "call")} unpriced
    </>
  );
}

function JoinedFoot({ result }: { result: QueryAnswer | undefined }) {
  const { joined_prs: joined, merged_prs: merged } = result?.total.current ?? {};
  if (!merged) return null;
  return <> · {percent((joined ?? 0) / merged)} joined</>;
}

function HoursFoot({ result }: { result: QueryAnswer | undefined }) {
  const { active_hours: hours, users } = result?.total.current ?? {};
  if (!hours || !users) return null;
  return <> · {counted(Math.round((hours / users) * 10) / 10, "active hour")} each</>;
}
