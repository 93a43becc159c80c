import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Result, Row } from "#shared/report.ts";
import { type OverviewParts, spelledOut } from "../data/overview.ts";
import type { FilterName, FrameSearch } from "../data/search.ts";
import { RankedBars } from "../parts/charts/ranked-bars.tsx";
import { narrowed } from "../parts/filter-chips.tsx";
import { count } from "../parts/format.ts";
import { Money } from "../parts/money.tsx";
import { Panel } from "../parts/page-head.tsx";

const SHOWN_MAX = 8;

type TopListsProps = { parts: OverviewParts; search: FrameSearch; change: (change: FrameSearch) => void };

export function TopLists({ parts, search, change }: TopListsProps) {
  const narrow = (name: FilterName) => (value: string) => change(narrowed(search, name, value));
  const all = (id: string) => (
    <Link to="/reports/$id" params={{ id }} search={spelledOut(search)} className="small link no-print">
      All
    </Link>
  );
  return (
    <div className="two">
      <TopList
        title="Teams"
        result={parts.teams}
        choose={narrow("team")}
        aside={
          <Link to="/explore" search={{ ...spelledOut(search), by: "team" }} className="small link no-print">
            All
          </Link>
        }
      />
      <TopList
        title="People"
        result={parts.people}
        choose={narrow("subject")}
        aside={all("spend-by-person")}
      />
      <TopList title="Models" result={parts.models} choose={narrow("model")} aside={all("spend-by-model")} />
      <TopList
        title="Repositories"
        result={parts.repositories}
        choose={narrow("repository")}
        aside={all("cost-per-merged-pr")}
        small={({ current }) =>
          current ? (
            <>
              {count(current.merged_prs ?? 0)} merged, <Money value={current.cost_per_merged_pr ?? null} />{" "}
              each
            </>
          ) : null
        }
      />
    </div>
  );
}

type TopListProps = {
  title: string;
  result: Result | null | undefined;
  choose: (value: string) => void;
  aside?: ReactNode;
  small?: ((row: Row) => ReactNode) | undefined;
};

/** The costliest groups; a click narrows the whole page to one. */
function TopList({ title, result, choose, aside, small }: TopListProps) {
  if (!result) return null;
  return (
    <Panel title={title} aside={aside}>
      <RankedBars
        result={result}
        measure="cost_usd"
        unit="USD"
        shownMax={SHOWN_MAX}
        choose={choose}
        small={small}
      />
    </Panel>
  );
}
