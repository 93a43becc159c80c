import type { ChartData } from "./data.ts";

type LegendProps = {
  data: ChartData;
  label: (name: string | null) => string;
  /** Narrows the page to a series; null: shows the others one by one. */
  choose?: ((name: string | null) => void) | undefined;
};

export const Legend = ({ data, label, choose }: LegendProps) => (
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
