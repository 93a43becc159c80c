import { Link, type LinkProps } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Row } from "#shared/report.ts";
import { type OverviewParts, spelledOut } from "../data/overview.ts";
import type { FrameSearch } from "../data/search.ts";
import { RankedBars } from "../parts/charts/ranked-bars.tsx";
import { narrowed } from "../parts/chips.tsx";
import { count } from "../parts/format.ts";
import { Panel } from "../parts/page.tsx";
import { Money } from "../parts/values.tsx";

const SHOWN_MAX = 8;

const report = (id: string) => (search: FrameSearch) =>
  ({ to: "/reports/$id", params: { id }, search: spelledOut(search) }) as const;

type List = {
  title: string;
  part: keyof OverviewParts;
  filter: "team" | "subject" | "model" | "repository";
  /** The whole list. */
  all: (search: FrameSearch) => LinkProps;
  small?: (row: Row) => ReactNode;
};

const merges = ({ current }: Row) =>
  current && (
    <>
      {count(current.merged_prs ?? 0)} merged, <Money value={current.cost_per_merged_pr ?? null} /> each
    </>
  );

const LISTS: readonly List[] = [
  {
    title: "Teams",
    part: "teams",
    filter: "team",
    all: (search) => ({ to: "/explore", search: { ...spelledOut(search), by: "team" } }),
  },
  { title: "People", part: "people", filter: "subject", all: report("spend-by-person") },
  { title: "Models", part: "models", filter: "model", all: report("spend-by-model") },
  {
    title: "Repositories",
    part: "repositories",
    filter: "repository",
    small: merges,
    all: report("cost-per-merged-pr"),
  },
];

type TopListsProps = { parts: OverviewParts; search: FrameSearch; change: (change: FrameSearch) => void };

const All = ({ of }: { of: LinkProps }) => (
  <Link {...of} className="small link no-print">
    All
  </Link>
);

/** The costliest groups; a click narrows the whole page to one. */
export const TopLists = ({ parts, search, change }: TopListsProps) => (
  <div className="two">
    {LISTS.map(({ title, part, filter, all, small }) => {
      const result = parts[part];
      return result ? (
        <Panel key={title} title={title} aside={<All of={all(search)} />}>
          <RankedBars
            {...{ result, measure: "cost_usd", unit: "USD", shownMax: SHOWN_MAX, small }}
            choose={(value) => change(narrowed(search, filter, value))}
          />
        </Panel>
      ) : null;
    })}
  </div>
);
