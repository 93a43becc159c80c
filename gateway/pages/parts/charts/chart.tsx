import { Button } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { type ReactNode, useState } from "react";
import { longTimeGroup } from "../dates.ts";
import { Foreign } from "../foreign.tsx";
import { Measured } from "../money.tsx";
import { Panel } from "../page-head.tsx";
import type { ChartData } from "./data.ts";

type ChartPanelProps = {
  title: string;
  sub?: ReactNode;
  data: ChartData;
  label: (name: string | null) => string;
  chooseGroup?: ((group: string) => void) | undefined;
  chooseSeries?: ((name: string | null) => void) | undefined;
  children: ReactNode;
};

/** A chart with its legend; `t` shows the same figures as a table. */
export function ChartPanel(props: ChartPanelProps) {
  const { title, sub, data, label, chooseSeries, children } = props;
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
          {children}
        </>
      )}
    </Panel>
  );
}

function FigureTable({ title, data, label, chooseGroup }: ChartPanelProps) {
  return (
    <div className="table-scroll plain" style={{ maxHeight: 360 }}>
      <table className="grid" aria-label={title}>
        <thead>
          <tr>
            <th scope="col">{data.dimension}</th>
            {data.series.map(({ name }) => (
              <th scope="col" key={name} className="number">
                {label(name)}
              </th>
            ))}
            {data.previous && <th className="number">Period before</th>}
          </tr>
        </thead>
        <tbody>
          {data.groups.map((group, i) => (
            <tr key={group}>
              <td>
                <GroupName
                  text={longTimeGroup(data.dimension, group)}
                  choose={chooseGroup && (() => chooseGroup(group))}
                />
              </td>
              {data.series.map(({ name, values }) => (
                <td key={name} className="number">
                  <Measured unit={data.unit} value={values[i] ?? null} />
                </td>
              ))}
              {data.previous && (
                <td className="number">
                  <Measured unit={data.unit} value={data.previous[i] ?? null} />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export const GroupName = ({ text, choose }: { text: string; choose?: (() => void) | undefined }) =>
  choose ? (
    <button type="button" className="value-link" onClick={choose}>
      <Foreign text={text} />
    </button>
  ) : (
    <Foreign text={text} />
  );

type LegendProps = {
  data: ChartData;
  label: (name: string | null) => string;
  /** Narrows the page to a series; null: shows the others one by one. */
  choose?: ((name: string | null) => void) | undefined;
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
