import { Link, type LinkProps } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { MeasureName } from "#shared/report.ts";
import type { QueryAnswer } from "#shared/report-query.ts";
import { type OverviewParts, spelledOut } from "../data/overview.ts";
import { type FrameSearch, withoutFilters } from "../data/search.ts";
import { Change } from "../parts/change.tsx";
import { singleSeries } from "../parts/charts/data.ts";
import { Sparkline } from "../parts/charts/sparkline.tsx";
import { count, counted, percent } from "../parts/format.ts";
import { timesOf } from "../parts/records-link.tsx";
import { Measured } from "../parts/values.tsx";
import { directionOf } from "../parts/words.ts";

type TilesProps = { parts: OverviewParts; search: FrameSearch };

const MERGES = {
  floorWords: "At least this: some merges have no known session, or some of their calls no known cost.",
  unknown: "No pull request was merged, or none is joined to a session.",
};

/** The four figures that answer the page's question. */
export function OverviewTiles({ parts, search }: TilesProps) {
  const { days, repositories: merges, merge_days: mergeDays } = parts;
  const asked = spelledOut(search);
  const report = (id: string, frame = asked) =>
    ({ to: "/reports/$id", params: { id }, search: frame }) as const;
  return (
    <div className="tiles">
      <Tile
        {...{ name: "Spend", measure: "cost_usd", of: days, days }}
        to={report("spend-by-model")}
        foot={unpricedIn(days)}
      />
      <Tile
        {...{ name: "Cost per merged pull request", measure: "cost_per_merged_pr" }}
        {...{ of: merges, days: mergeDays }}
        to={report("cost-per-merged-pr", merges ? asked : withoutFilters(asked))}
        {...MERGES}
      />
      <Tile
        {...{ name: "Merged pull requests", measure: "merged_prs", of: merges, days: mergeDays }}
        to={{ to: "/pull-requests", search: { state: "merged", ...(merges && timesOf(merges)) } }}
        foot={joinedIn(merges)}
      />
      <Tile
        {...{ name: "Active people", measure: "users", of: days, days }}
        to={report("spend-by-person")}
        foot={hoursIn(days)}
      />
    </div>
  );
}

type Answer = QueryAnswer | undefined;
type TileProps = {
  name: string;
  measure: MeasureName;
  /** The answer whose total it shows, and the one with its days. */
  of: Answer;
  days: Answer;
  /** What is behind it. */
  to: LinkProps;
  foot?: ReactNode;
  floorWords?: string;
  unknown?: string;
};

function Tile({ name, measure, of, days, to, foot, floorWords, unknown }: TileProps) {
  const { current, previous, floor = false } = of?.total ?? {};
  const isMoney = measure !== "merged_prs" && measure !== "users";
  return (
    <section className="tile" aria-label={name}>
      <div className="tile-name">
        <Link {...to}>{name}</Link>
      </div>
      <div className="tile-figure">
        <strong>
          <Measured
            unit={isMoney ? "USD" : "count"}
            value={current?.[measure]}
            floor={floor && (floorWords ?? true)}
            ceiling={of?.ceiling ?? false}
            unknown={unknown}
          />
        </strong>
        <Sparkline
          values={(days && singleSeries({ result: days, measure, unit: "count" }).series[0]?.values) ?? []}
        />
      </div>
      <div className="tile-foot">
        {of?.previousWindow && (
          <Change current={current?.[measure]} previous={previous?.[measure]} more={directionOf(measure)} />
        )}
        {foot && <> · {foot}</>}
      </div>
    </section>
  );
}

function unpricedIn(days: Answer): string | null {
  const { unpriced_requests: unpriced, requests } = days?.total.current ?? {};
  return unpriced && requests ? `${count(unpriced)} of ${counted(requests, "call")} unpriced` : null;
}

function joinedIn(merges: Answer): string | null {
  const { joined_prs: joined, merged_prs: merged } = merges?.total.current ?? {};
  return merged ? `${percent((joined ?? 0) / merged)} joined` : null;
}

function hoursIn(days: Answer): string | null {
  const { active_hours: hours, users } = days?.total.current ?? {};
  return hours && users ? `${counted(Math.round((hours / users) * 10) / 10, "active hour")} each` : null;
}
