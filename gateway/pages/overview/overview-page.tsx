import { dimensionWord } from "#shared/report-words.ts";
import { useAddress } from "../data/address.ts";
import { useCatalogue, useReport, useReports } from "../data/reports.ts";
import { FILTER_NAMES, type FrameSearch, frameSearch } from "../data/search.ts";
import { CostCauses } from "../parts/charts/cost-causes.tsx";
import { FilterChips } from "../parts/filter-chips.tsx";
import { ComparePicker, RangePicker } from "../parts/frame-controls.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { RecordsLink } from "../parts/records-link.tsx";
import { AnswerNote } from "../parts/scope-note.tsx";
import { Answered, Empty, Fault } from "../parts/states.tsx";
import { BudgetsAtRisk } from "./budgets-at-risk.tsx";
import { MissingNote } from "./missing-note.tsx";
import {
  compareOf,
  notOfOutcomes,
  OVERVIEW_RANGE,
  type OverviewResults,
  overviewSpecs,
  stackedSpec,
} from "./overview-specs.ts";
import { SpendByDay } from "./spend-by-day.tsx";
import { Tiles } from "./tiles.tsx";
import { TopLists } from "./top-lists.tsx";

/** What was spent, on what, why it moved, what a merged pull request costs, and what is missing from these figures. */
export function OverviewPage() {
  const [search, change] = useAddress(frameSearch);
  const catalogue = useCatalogue();
  const specs = catalogue.data ? overviewSpecs(search, catalogue.data) : null;
  const results = useReports(specs);
  const cut = catalogue.data ? stackedSpec(search, catalogue.data, results.data ?? {}) : null;
  const costliest = useReport(cut);
  const stacked = (parts: OverviewResults) => (cut ? costliest.data : parts.stacked) ?? null;
  const left = catalogue.data ? notOfOutcomes(search, catalogue.data) : [];
  return (
    <>
      <PageHead title="Overview">
        <RecordsLink search={search} answer={results.data?.days} />
        <RangePicker search={search} fallback={OVERVIEW_RANGE} change={change} />
        <ComparePicker result={results.data?.days} compare={compareOf(search)} change={change} />
      </PageHead>
      <AnswerNote answer={results.data?.days} />
      <FilterChips search={search} change={change} />
      {left.length > 0 && (
        <p className="mute small">
          Pull requests cannot be narrowed by{" "}
          {left.map((name) => dimensionWord(name).toLowerCase()).join(", ")}, so their figures are not shown.
        </p>
      )}
      {catalogue.error && <Fault error={catalogue.error} retry={() => void catalogue.refetch()} />}
      {!catalogue.error && (
        <Answered query={results} height={720}>
          {(parts: OverviewResults) => (
            <Parts parts={parts} stacked={stacked(parts)} search={search} change={change} />
          )}
        </Answered>
      )}
    </>
  );
}

type PartsProps = {
  parts: OverviewResults;
  stacked: Parameters<typeof SpendByDay>[0]["stacked"];
  search: FrameSearch;
  change: (change: FrameSearch) => void;
};

function Parts({ parts, stacked, search, change }: PartsProps) {
  if (parts.days?.empty && parts.repositories?.empty !== false) return <NothingYet />;
  return (
    <>
      <Tiles parts={parts} search={search} />
      <MissingNote parts={parts} />
      <SpendByDay days={parts.days ?? null} stacked={stacked} search={search} change={change} />
      {parts.days && <CostCauses result={parts.days} />}
      {FILTER_NAMES.every((name) => search[name] === undefined) && <BudgetsAtRisk />}
      <TopLists parts={parts} search={search} change={change} />
    </>
  );
}

const NothingYet = () => (
  <div className="panel">
    <Empty title="No calls in this period">
      Choose another range, or remove a filter. In a new installation, point an agent or an SDK at this
      gateway: its first call appears here within seconds.
    </Empty>
  </div>
);
