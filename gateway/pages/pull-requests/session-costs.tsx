import { Link } from "@tanstack/react-router";
import { isoDay, longTimeGroup } from "../parts/dates.ts";
import { Foreign } from "../parts/foreign.tsx";
import { counted } from "../parts/format.ts";
import { Money } from "../parts/money.tsx";
import { Panel } from "../parts/page-head.tsx";
import { Answered } from "../parts/states.tsx";
import { type Sum, sumsBy, useSessionCalls } from "./session-calls.ts";

/** The session's cost by model and by day. */
export function SessionCosts({ session }: { session: string }) {
  const calls = useSessionCalls(session);
  return (
    <Answered query={calls} height={160}>
      {({ data, has_more: hasMore }) => {
        const models = sumsBy(data, ({ model }) => model ?? "no model").toSorted(
          (a, b) => Number(b.usd) - Number(a.usd),
        );
        const days = sumsBy(data, ({ started_at: at }) => isoDay(Date.parse(at))).toSorted((a, b) =>
          a.name.localeCompare(b.name),
        );
        return (
          <>
            <div className="two">
              <Sums title="Cost by model" sums={models} filter={(model) => ({ session, model })} />
              <Sums
                title="Cost by day"
                sums={days}
                filter={(day) => ({ session, from: day, to: day })}
                word={(day) => longTimeGroup("day", day)}
              />
            </div>
            {hasMore && (
              <p className="mute small">Of the latest {counted(data.length, "call")} of its own session.</p>
            )}
          </>
        );
      }}
    </Answered>
  );
}

type SumsProps = {
  title: string;
  sums: readonly Sum[];
  filter: (name: string) => Record<string, string>;
  word?: (name: string) => string;
};

const Sums = ({ title, sums, filter, word = (name) => name }: SumsProps) => (
  <Panel title={title}>
    {sums.map(({ name, calls, usd, isFloor }) => (
      <div className="bar-row" key={name}>
        <Link to="/requests" search={filter(name)}>
          <Foreign text={word(name)} />
        </Link>
        <span className="number">
          <Money value={usd} floor={isFloor} />
        </span>
        <span className="number small mute">{counted(calls, "call")}</span>
      </div>
    ))}
    {sums.length === 0 && <p className="mute">No recorded calls.</p>}
  </Panel>
);
