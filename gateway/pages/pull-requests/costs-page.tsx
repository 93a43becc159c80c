import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { DimensionName, MeasureName, Spec } from "#shared/report.ts";
import type { QueryAnswer } from "#shared/report-query.ts";
import { dimensionWord } from "#shared/report-words.ts";
import { useAddress } from "../data/address.ts";
import { COSTS_BY, COSTS_FILTERS } from "../data/parameters.ts";
import { useReports } from "../data/reports.ts";
import { type FrameSearch, filtersFor, frameSearch, oneNameOf, rangeOf } from "../data/search.ts";
import { narrowed } from "../parts/chips.tsx";
import { CsvButton } from "../parts/csv-button.tsx";
import { EmptyPanel, Panel, Tiles } from "../parts/page.tsx";
import { ReportFrame } from "../parts/report-frame.tsx";
import { ReportTable } from "../parts/report-table.tsx";
import { Money, Unknown } from "../parts/values.tsx";
import { CostTrend } from "./cost-trend.tsx";
import { Dearest } from "./dearest.tsx";

const RANGE = "30d";
const MEASURES: MeasureName[] = ["median_cost_per_pr", "p90_cost_per_pr", "costed_prs", "cost_usd"];
const UNITS = {
  ...({ median_cost_per_pr: "USD", p90_cost_per_pr: "USD", costed_prs: "count", cost_usd: "USD" } as const),
  ...({ merged_prs: "count", cost_per_merged_pr: "USD" } as const),
};
const TREND: MeasureName[] = ["median_cost_per_pr", "median_low_usd", "median_high_usd", "costed_prs"];

type CostsSearch = FrameSearch & { by?: (typeof COSTS_BY)[number] };
const costsSearch = (raw: Record<string, unknown>): CostsSearch => {
  const by = oneNameOf(COSTS_BY, raw["by"]);
  return { ...frameSearch(raw), ...(by && { by }) };
};

type Part = "total" | "weeks" | "groups" | "kinds" | "closed";

/** Everything that the page asks for in one call. Releases and backports stand apart, and are in nothing else. */
function specsOf(search: CostsSearch): Record<Part, Spec> {
  const compare = search.compare ?? "previous_period";
  const common = { range: rangeOf(search, RANGE), view: "table" } as const;
  const filters = filtersFor(search, COSTS_FILTERS);
  const ofMerges = (dimensions: DimensionName[], measures: MeasureName[]): Spec => ({
    ...{
      ...common,
      source: "outcomes",
      dimensions,
      measures,
      compare: dimensions.length > 0 ? "none" : compare,
    },
    filters: dimensions[0] === "pr_kind" ? filters : { ...filters, pr_kind: ["change"] },
  });
  return {
    total: ofMerges([], [...TREND, "p90_cost_per_pr", "reverted_cost_usd", "review_fix_cost_usd"]),
    weeks: ofMerges(["week"], TREND),
    groups: ofMerges([search.by ?? "repository"], MEASURES),
    kinds: ofMerges(["pr_kind"], ["cost_usd", "merged_prs", "cost_per_merged_pr", "median_cost_per_pr"]),
    closed: {
      ...common,
      source: "requests",
      dimensions: [],
      measures: ["cost_usd"],
      compare,
      filters: {
        ...filtersFor(search, ["team", "cost_center", "subject"]),
        explanation: ["closed_unmerged"],
      },
    },
  };
}

/** What merges cost: how it is distributed and moves, what was spent in vain, and which were the dearest and why. */
export function CostsPage() {
  const [search, change] = useAddress(costsSearch);
  const specs = specsOf(search);
  const results = useReports(specs);
  return (
    <ReportFrame
      {...{ title: "Cost of merges", search, change, fallback: RANGE, query: results, height: 720 }}
      sub={
        <>
          <Link to="/pull-requests">Pull requests</Link> ·{" "}
          <Link to="/pull-requests/explained">Explained spend</Link> · Merges of known cost, without releases
          and backports.
        </>
      }
      answer={results.data?.total}
      compare={search.compare ?? "previous_period"}
      controls={<CsvButton spec={specs.groups} />}
    >
      {(parts) => <Parts parts={parts} search={search} change={change} />}
    </ReportFrame>
  );
}

type PartsProps = {
  parts: Readonly<Partial<Record<Part, QueryAnswer>>>;
  search: CostsSearch;
  change: (change: CostsSearch) => void;
};

function Parts({ parts: { total, weeks, groups, kinds, closed }, search, change }: PartsProps) {
  if (!total || !weeks || !groups || !kinds || (total.empty && kinds.empty)) {
    return (
      <EmptyPanel title="No merges in this period">Choose another range, or remove a filter.</EmptyPanel>
    );
  }
  const by = search.by ?? "repository";
  return (
    <>
      <Lost total={total} closed={closed} narrowed={UNFIT.some((name) => search[name]?.length)} />
      <CostTrend total={total} weeks={weeks} />
      <Panel
        title={`By ${dimensionWord(by).toLowerCase()}`}
        sub="Half of the merges cost at most the median, and nine of ten at most the other figure."
        aside={COSTS_BY.map((name) => (
          <Button
            key={name}
            size="compact-xs"
            variant={name === by ? "light" : "default"}
            aria-pressed={name === by}
            onClick={() => change({ by: name })}
          >
            {dimensionWord(name)}
          </Button>
        ))}
      >
        <ReportTable
          result={groups}
          title="Costs of merges"
          units={UNITS}
          choose={(name, value) => name === by && change(narrowed(search, by, value))}
        />
      </Panel>
      <Dearest search={search} window={total.window} />
      {kinds.rows.some(({ groups: [kind] }) => kind !== "change") && (
        <Panel
          title="Releases and backports"
          sub="Recognised by their branches. They move or repeat changes, so they are in none of the figures above."
        >
          <ReportTable result={kinds} title="Kinds of pull requests" units={UNITS} />
        </Panel>
      )}
    </>
  );
}

/** Filters of merges that calls without a merge cannot have. */
const UNFIT = ["repository", "author", "pr_lines", "pr_files"] as const;
const UNFIT_REASON = "Without a merge, spend cannot be narrowed by repository, author or size.";

type LostProps = { total: QueryAnswer; closed: QueryAnswer | undefined; narrowed: boolean };

/** What did not last, and what reviews led to. */
function Lost({ total, closed, narrowed: isUnfit }: LostProps) {
  const money = (answer: QueryAnswer | undefined, name: MeasureName) => (
    <strong>
      <Money value={answer?.total.current?.[name]} floor={answer?.total.floor ?? false} />
    </strong>
  );
  return (
    <Tiles
      of={{
        Median: money(total, "median_cost_per_pr"),
        "90 % cost at most": money(total, "p90_cost_per_pr"),
        "Closed without a merge": isUnfit ? <Unknown reason={UNFIT_REASON} /> : money(closed, "cost_usd"),
        "Merged, then reverted": money(total, "reverted_cost_usd"),
        "After the first review": money(total, "review_fix_cost_usd"),
      }}
    />
  );
}
