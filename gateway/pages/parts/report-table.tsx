import type { DimensionName, MeasureName, Result, Row, Unit } from "#shared/report.ts";
import { dimensionWord, measureWord } from "#shared/report-words.ts";
import { Change } from "./change.tsx";
import { GroupName } from "./charts/chart.tsx";
import type { Column } from "./columns.tsx";
import { DataTable } from "./data-table.tsx";
import { longTimeGroup } from "./dates.ts";
import { shortId } from "./short-id.tsx";
import { Measured, plainName } from "./values.tsx";
import { directionOf } from "./words.ts";

/** `ceiling`: the total is an upper bound, as far as it is known. */
type Shown = Result & { ceiling?: boolean };

type ReportTableProps = {
  result: Shown;
  title: string;
  units: Readonly<Partial<Record<MeasureName, Unit>>>;
  /** Narrows to a group. */
  choose?: (dimension: DimensionName, value: string) => void;
};

/** A report's rows with their changes, and the total, which is no sum of rows where persons are counted. */
export function ReportTable({ result, title, units, choose }: ReportTableProps) {
  const { dimensions, measures } = result.spec;
  const columns = Object.fromEntries([
    ...dimensions.map((name, i) => [name, groupColumn(name, i, choose)] as const),
    ...measures.map((name) => [name, measureColumn(result, name, units[name] ?? "count")] as const),
  ]);
  return (
    <DataTable
      label={title}
      columns={columns}
      rows={dimensions.length === 0 ? [result.total] : result.rows}
      rowKey={["groups"]}
      rowHeight={result.previousWindow ? 54 : 35}
    />
  );
}

const groupColumn = (name: DimensionName, i: number, choose: ReportTableProps["choose"]): Column<Row> => ({
  head: dimensionWord(name),
  isFolded: i > 0,
  sort: ({ groups }) => groups[i] ?? "",
  cell: ({ groups }) => {
    const value = groups[i] ?? "";
    const text = name === "session" ? shortId(value) : longTimeGroup(name, value);
    const shown = <GroupName text={text} choose={choose && (() => choose(name, value))} />;
    return text.includes("…") ? <span title={plainName(value)}>{shown}</span> : shown;
  },
  foot: i === 0 ? "Total" : "",
});

const measureColumn = (result: Shown, name: MeasureName, unit: Unit): Column<Row> => {
  // A change has no change of its own, and two lower bounds make none.
  const isChange = name === "cost_decomposition";
  const cell = (row: Row) => (
    <>
      <Measured
        unit={unit}
        value={row.current?.[name] ?? null}
        floor={unit === "USD" && !isChange && row.floor}
        ceiling={row === result.total && result.ceiling === true}
      />
      {result.previousWindow && !isChange && (
        <small>
          <Change current={row.current?.[name]} previous={row.previous?.[name]} more={directionOf(name)} />
        </small>
      )}
    </>
  );
  return {
    head: measureWord(name),
    isNumber: true,
    sort: ({ current }) => current?.[name] ?? null,
    cell,
    // Without groups the total is the only row.
    ...(result.spec.dimensions.length > 0 && { foot: cell(result.total) }),
  };
};
