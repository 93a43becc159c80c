import { percent } from "./format.ts";

/** Whether more of it is worse, better, or neither. */
export type Direction = "worse" | "better" | "neutral";

type ChangeProps = {
  current: number | null | undefined;
  previous: number | null | undefined;
  more?: Direction;
};

/** From twice as much on, a decimal says nothing. */
const whole = (change: number): number => (change < 1 ? change : Math.round(change * 100) / 100);

/** Below this a change says nothing. */
const QUIET_BELOW = 0.01;

/** `↑ +12 %`: red only where more is worse, grey if the change is small. */
export function Change({ current, previous, more = "neutral" }: ChangeProps) {
  if (typeof current !== "number") return null;
  if (typeof previous !== "number" || previous === 0) {
    return <span className="mute">{current === 0 ? "no change" : "new"}</span>;
  }
  const change = (current - previous) / Math.abs(previous);
  const text = percent(whole(Math.abs(change)));
  if (Math.abs(change) < QUIET_BELOW) return <span className="mute">→ {text}</span>;
  const rises = change > 0;
  const tone = more === "neutral" ? "mute" : (more === "worse") === rises ? "bad" : "good";
  return (
    <span className={tone} style={{ whiteSpace: "nowrap" }}>
      <span aria-hidden="true">{rises ? "↑" : "↓"} </span>
      {rises ? "+" : "−"}
      {text}
    </span>
  );
}
