import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { dimensionWord } from "#shared/report-words.ts";
import { useAddress } from "../data/address.ts";
import {
  compareOf,
  OVERVIEW_RANGE,
  type OverviewParts,
  overviewQuery,
  spelledOut,
} from "../data/overview.ts";
import { FILTER_NAMES, type FrameSearch, frameSearch } from "../data/search.ts";
import { CostCauses } from "../parts/charts/cost-causes.tsx";
import { CONNECT, EmptyPanel } from "../parts/page.tsx";
import { RecordsLink } from "../parts/records-link.tsx";
import { ReportFrame } from "../parts/report-frame.tsx";
import { MissingNote } from "./missing-note.tsx";
import { AnomalyList, BudgetsAtRisk, MonthAhead } from "./month-ahead.tsx";
import { SpendByDay } from "./spend-by-day.tsx";
import { TeamsThisMonth } from "./teams-this-month.tsx";
import { OverviewTiles } from "./tiles.tsx";
import { TopLists } from "./top-lists.tsx";

/** What was spent, on what, why it moved, what a merged pull request costs, and what is missing from these figures. */
export function OverviewPage() {
  const [search, change] = useAddress(frameSearch);
  const query = useQuery({ ...overviewQuery(search), placeholderData: keepPreviousData });
  const days = query.data?.parts.days;
  return (
    <ReportFrame
      {...{ title: "Overview", search, change, query, answer: days, fallback: OVERVIEW_RANGE, height: 720 }}
      compare={compareOf(search)}
      controls={<RecordsLink search={search} answer={days} />}
    >
      {({ parts, notOfMerges: left }) => (
        <>
          {left.length > 0 && (
            <p className="mute small">
              Pull requests cannot be narrowed by{" "}
              {left.map((name) => dimensionWord(name).toLowerCase()).join(", ")}, so their figures are not
              shown.
            </p>
          )}
          <Parts parts={parts} search={search} change={change} />
        </>
      )}
    </ReportFrame>
  );
}

type PartsProps = { parts: OverviewParts; search: FrameSearch; change: (change: FrameSearch) => void };

function Parts({ parts, search, change }: PartsProps) {
  const { days, repositories, stacked = null } = parts;
  if (days?.empty && repositories?.empty !== false) return <NothingYet />;
  const isNarrowed = FILTER_NAMES.some((name) => search[name] !== undefined);
  return (
    <>
      <OverviewTiles parts={parts} search={search} />
      <MissingNote parts={parts} />
      {!isNarrowed && spelledOut(search).range === OVERVIEW_RANGE && <TeamsThisMonth parts={parts} />}
      {days && <SpendByDay days={days} stacked={stacked} search={search} change={change} />}
      {days && <CostCauses result={days} />}
      {!isNarrowed && (
        <>
          <MonthAhead />
          <BudgetsAtRisk />
          <AnomalyList />
        </>
      )}
      <TopLists parts={parts} search={search} change={change} />
    </>
  );
}

const NothingYet = () => (
  <EmptyPanel title="No calls in this period">Choose another range, or remove a filter. {CONNECT}</EmptyPanel>
);
