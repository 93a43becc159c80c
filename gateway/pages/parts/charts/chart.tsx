import { Button } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { type ReactNode, useState } from "react";
import { dimensionWord } from "#shared/report-words.ts";
import { type Columns, cell, figure } from "../columns.tsx";
import { DataTable } from "../data-table.tsx";
import { longTimeGroup } from "../dates.ts";
import { Panel } from "../page.tsx";
import { Foreign, Measured } from "../values.tsx";
import type { ChartProps } from "./data.ts";

type ChartPanelProps = ChartProps & {
  sub?: ReactNode;
  /** How it is drawn, and what the picture shows where that is more than its title. */
  as: (chart: ChartProps) => ReactNode;
  picture?: string;
  chooseSeries?: ((name: string | null) => void) | undefined;
};

/** A chart with its legend; `t` shows the same figures as a table. */
export function ChartPanel(props: ChartPanelProps) {
  const { as: Chart, title, picture = title, sub, data, label, choose, chooseSeries } = props;
  const [isTable, setTable] = useState(false);
  const turn = () => setTable((is) => !is);
  useHotkeys([["t", turn]]);
  const aside = (
    <Button
      size="compact-xs"
      variant="subtle"
      color="gray"
      className="no-print"
      onClick={turn}
      aria-pressed={isTable}
    >
      {isTable ? "Chart" : "Table"}
    </Button>
  );
  return (
    <Panel title={title} sub={sub} aside={aside}>
      {isTable ? (
        <FigureTable {...props} />
      ) : (
        <>
          {data.series.length > 1 && <Legend data={data} label={label} choose={chooseSeries} />}
          <Chart {...{ data, title: picture, label, choose }} />
        </>
      )}
    </Panel>
  );
}

function FigureTable({ title, data, label, choose }: ChartPanelProps) {
  const { dimension, groups, series, previous, unit } = data;
  const figures = (head: string, values: readonly (number | null)[]) =>
    figure<number>(
      head,
      (i) => <Measured unit={unit} value={values[i] ?? null} />,
      (i) => values[i] ?? null,
    );
  const named = (group: string) => (
    <GroupName text={longTimeGroup(dimension, group)} choose={choose && (() => choose(group))} />
  );
  const columns: Columns<number> = {
    group: cell(
      dimensionWord(dimension),
      (i) => named(groups[i] ?? ""),
      (i) => i,
    ),
    ...Object.fromEntries(series.map(({ name, values }) => [`series ${name}`, figures(label(name), values)])),
    ...(previous && { previous: figures("Period before", previous) }),
  };
  return <DataTable label={title} columns={columns} rows={groups.map((_, i) => i)} rowKey={String} />;
}

export const GroupName = ({ text, choose }: { text: string; choose?: (() => void) | undefined }) =>
  choose ? (
    <button type="button" className="value-link" onClick={choose}>
      <Foreign text={text} />
    </button>
  ) : (
    <Foreign text={text} />
  );

type LegendProps = Pick<ChartProps, "data" | "label"> & {
  /** Narrows the page to a series; null: shows the others one by one. */
  choose: ChartPanelProps["chooseSeries"];
};

const Legend = ({ data, label, choose }: LegendProps) => (
  <ul className="legend">
    {data.series.map(({ name, color }) => (
      <li key={name}>
        {choose ? (
          <button type="button" onClick={() => choose(name)}>
            <span className="swatch" style={{ background: color }} />
            <span className="cut">{label(name)}</span>
          </button>
        ) : (
          <>
            <span className="swatch" style={{ background: color }} />
            {label(name)}
          </>
        )}
      </li>
    ))}
  </ul>
);
