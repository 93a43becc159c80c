import type { DimensionName, MeasureName, Result, Unit } from "#shared/report.ts";
import type { ReportCatalogue } from "#shared/report-catalogue.ts";
import type { QueryAnswer } from "#shared/report-query.ts";
import { dimensionWord, measureWord } from "#shared/report-words.ts";
import { Bars } from "./charts/bars.tsx";
import { ChartPanel } from "./charts/chart.tsx";
import { CostCauses } from "./charts/cost-causes.tsx";
import { isAdditive, singleSeries, stackedSeries } from "./charts/data.ts";
import { Lines } from "./charts/lines.tsx";
import { RankedBars } from "./charts/ranked-bars.tsx";
import { isTimeDimension, utcDay } from "./dates.ts";
import { counted } from "./format.ts";
import { EmptyPanel, Panel } from "./page.tsx";
import { ReportTable } from "./report-table.tsx";
import { plainName } from "./values.tsx";

type ReportViewProps = {
  result: QueryAnswer;
  catalogue: ReportCatalogue;
  choose: (dimension: DimensionName, value: string) => void;
};

type Units = Readonly<Partial<Record<MeasureName, Unit>>>;

const unitsOf = ({ measures }: ReportCatalogue): Units =>
  Object.fromEntries(measures.map(({ name, unit }) => [name, unit]));

/** A result in its view, and the same figures as a table. */
export function ReportView({ result, catalogue, choose }: ReportViewProps) {
  const units = unitsOf(catalogue);
  if (result.empty) {
    return <EmptyPanel title="Nothing in this period">Choose another range, or remove a filter.</EmptyPanel>;
  }
  return (
    <>
      <Picture result={result} units={units} choose={choose} />
      <ReportTable result={result} title="Figures" units={units} choose={choose} />
      <Coverage result={result} />
    </>
  );
}

type PictureProps = { result: Result; units: Units; choose: ReportViewProps["choose"] };

function Picture({ result, units, choose }: PictureProps) {
  const { view, dimensions, measures } = result.spec;
  const [dimension] = dimensions;
  const measure = measures.find((name) => name !== "cost_decomposition");
  if (result.decomposition && (view === "waterfall" || view === "bar")) return <CostCauses result={result} />;
  if (view === "table" || !dimension || !measure) return null;
  const unit = units[measure] ?? "count";
  const title = `${measureWord(measure)} by ${dimensions.map(dimensionWord).join(" and ").toLowerCase()}`;
  if (!isTimeDimension(dimension)) {
    return (
      <Panel title={title}>
        <RankedBars
          {...{ result, measure, unit, shownMax: 20 }}
          choose={(value) => choose(dimension, value)}
        />
      </Panel>
    );
  }
  const data = (dimensions.length > 1 ? stackedSeries : singleSeries)({ result, measure, unit });
  const [, second] = dimensions;
  const label = (name: string | null) =>
    name === null ? "others" : name === measure ? measureWord(measure) : plainName(name);
  return (
    <ChartPanel
      {...{ title, data, label }}
      as={view === "line" || !isAdditive(measure) ? Lines : Bars}
      choose={(group) => choose(dimension, group)}
      chooseSeries={second && ((name) => name !== null && choose(second, name))}
    />
  );
}

/** Labels that were not recorded from the start. */
function Coverage({ result: { coverage, spec } }: { result: Result }) {
  if (!coverage?.dimensionsSince || coverage.rowsBefore === 0) return null;
  return (
    <p className="mute small">
      {counted(coverage.rowsBefore, "record is", "records are")} older than the first one with{" "}
      {spec.dimensions.map(dimensionWord).join(" or ").toLowerCase()} (
      {utcDay(Date.parse(coverage.dimensionsSince))}).
    </p>
  );
}
