import { duration } from "../parts/format.ts";

type TimingProps = { latencyMs: number | null; ttftMs: number | null };

/** From the complete request to the last byte of the answer. */
export function Timing({ latencyMs, ttftMs }: TimingProps) {
  if (latencyMs === null) return <p className="mute">The time of this call was not measured.</p>;
  const phases =
    ttftMs === null
      ? [{ name: "Whole answer", ms: latencyMs, color: "var(--s1)" }]
      : [
          { name: "Until the first content", ms: ttftMs, color: "var(--s2)" },
          { name: "Stream", ms: Math.max(latencyMs - ttftMs, 0), color: "var(--s1)" },
        ];
  return (
    <>
      <div className="timing" aria-hidden="true">
        {phases.map(({ name, ms, color }) => (
          <span key={name} style={{ background: color, flexGrow: Math.max(ms, latencyMs / 200) }} />
        ))}
      </div>
      <ul className="legend" style={{ marginTop: 8 }}>
        {phases.map(({ name, ms, color }) => (
          <li key={name}>
            <span className="swatch" style={{ background: color }} />
            {name}: {duration(ms)}
          </li>
        ))}
        {phases.length > 1 && <li>Together: {duration(latencyMs)}</li>}
      </ul>
    </>
  );
}
