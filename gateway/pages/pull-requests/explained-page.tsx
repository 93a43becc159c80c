import { Link, useNavigate } from "@tanstack/react-router";
import { EXPLANATION_MEANING, EXPLANATIONS, type Explanation } from "#shared/explanation.ts";
import type { DimensionName, MeasureName, Spec } from "#shared/report.ts";
import type { QueryAnswer } from "#shared/report-query.ts";
import { useAddress } from "../data/address.ts";
import { EXPLAINED_FILTERS } from "../data/parameters.ts";
import { useReports } from "../data/reports.ts";
import { compareIn, type FrameSearch, filtersFor, frameSearch, oneNameOf, rangeOf } from "../data/search.ts";
import { RankedBars } from "../parts/charts/ranked-bars.tsx";
import { narrowed } from "../parts/chips.tsx";
import { CsvButton } from "../parts/csv-button.tsx";
import { counted } from "../parts/format.ts";
import { EmptyPanel, Panel } from "../parts/page.tsx";
import { ReportFrame } from "../parts/report-frame.tsx";
import { ReportTable } from "../parts/report-table.tsx";
import { Money } from "../parts/values.tsx";

const RANGE = "mtd";
const MEASURES: MeasureName[] = ["cost_usd", "cost_share", "requests", "sessions"];
const UNITS = { cost_usd: "USD", cost_share: "fraction", requests: "count", sessions: "count" } as const;

const specOf = (search: FrameSearch, dimensions: DimensionName[], explanation?: Explanation): Spec => ({
  source: "requests",
  dimensions,
  // A session is one.
  measures: dimensions[0] === "session" ? MEASURES.filter((name) => name !== "sessions") : MEASURES,
  filters: { ...filtersFor(search, EXPLAINED_FILTERS), ...(explanation && { explanation: [explanation] }) },
  range: rangeOf(search, RANGE),
  compare: compareIn(search, "none"),
  view: "table",
});

/** All spend by the pull request that explains it, or why none does; each part shows its sessions. */
export function ExplainedPage() {
  const [search, change] = useAddress(frameSearch);
  const chosen = oneNameOf(EXPLANATIONS, search.explanation);
  const parts = specOf(search, ["explanation"]);
  const query = useReports({ parts, ...(chosen && { sessions: sessionsOf(search, chosen) }) });
  return (
    <ReportFrame
      {...{ title: "Explained spend", search, change, fallback: RANGE, query, height: 420 }}
      sub={
        <>
          <Link to="/pull-requests">Pull requests</Link> · What was spent, by the pull request that explains
          it. The parts add up to all spend.
        </>
      }
      answer={query.data?.parts}
      compare={compareIn(search, "none")}
      controls={<CsvButton spec={parts} />}
    >
      {({ parts: all, sessions }) => (
        <>
          {all && <Parts answer={all} choose={(name) => change({ explanation: [name] })} />}
          {chosen && sessions && <Sessions {...{ search, explanation: chosen, sessions, change }} />}
        </>
      )}
    </ReportFrame>
  );
}

function Parts({ answer, choose }: { answer: QueryAnswer; choose: (name: string) => void }) {
  const { total, rows, ceiling } = answer;
  if (answer.empty) {
    return <EmptyPanel title="No calls in this period">Choose another range, or remove a filter.</EmptyPanel>;
  }
  return (
    <Panel
      title="What explains spend"
      sub={
        <>
          <Money value={total.current?.cost_usd} floor={total.floor} ceiling={ceiling} /> in all. Choose a
          part to see its sessions. If several explanations apply, the first of these counts:{" "}
          {EXPLANATIONS.map((it) => EXPLANATION_MEANING[it][0]).join(" · ")}.
        </>
      }
    >
      <RankedBars
        result={answer}
        measure="cost_usd"
        unit="USD"
        shownMax={EXPLANATIONS.length}
        choose={choose}
        small={({ groups: [name], current }) => {
          const known = oneNameOf(EXPLANATIONS, name);
          return (
            <>
              {counted(current?.requests ?? 0, "call")}. {known && EXPLANATION_MEANING[known][1]}
            </>
          );
        }}
      />
      {rows.every(({ groups: [name] }) => name === "no_session") && (
        <p className="note">
          No call has a session. Agents send one once they are set up with <code>tallygate install</code>.
        </p>
      )}
    </Panel>
  );
}

type SessionsProps = {
  search: FrameSearch;
  explanation: Explanation;
  sessions: QueryAnswer;
  change: (change: FrameSearch) => void;
};

const sessionsOf = (search: FrameSearch, explanation: Explanation): Spec =>
  specOf(search, explanation === "no_session" ? ["subject", "client"] : ["session", "subject"], explanation);

/** The sessions of a part; calls without one by who made them, and with what. */
function Sessions({ search, explanation, sessions, change }: SessionsProps) {
  const navigate = useNavigate();
  const choose = (dimension: DimensionName, value: string) => {
    if (dimension === "session") void navigate({ to: "/sessions/$session", params: { session: value } });
    else if (dimension === "subject" || dimension === "client") change(narrowed(search, dimension, value));
  };
  const [word, meaning] = EXPLANATION_MEANING[explanation];
  return (
    <Panel title={word} sub={meaning}>
      <ReportTable result={sessions} title={word} units={UNITS} choose={choose} />
    </Panel>
  );
}
