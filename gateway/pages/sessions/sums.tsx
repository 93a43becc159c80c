import { Link } from "@tanstack/react-router";
import { Foreign } from "../parts/foreign.tsx";
import { counted } from "../parts/format.ts";
import { Money } from "../parts/money.tsx";
import { Panel } from "../parts/page-head.tsx";
import type { Sum } from "./session-calls.ts";

type SumsProps = {
  title: string;
  sums: readonly Sum[];
  /** Filters of the list of records that find the calls of one; null: there are none. */
  filter: (name: string) => Record<string, string> | null;
  word?: (name: string) => string;
};

/** What calls of a session cost together, by what they share. */
export const Sums = ({ title, sums, filter, word = (name) => name }: SumsProps) => (
  <Panel title={title}>
    {sums.map(({ name, calls, usd, isFloor }) => {
      const search = filter(name);
      return (
        <div className="bar-row" key={name}>
          {search ? (
            <Link to="/requests" search={search}>
              <Foreign text={word(name)} />
            </Link>
          ) : (
            <Foreign text={word(name)} />
          )}
          <span className="number">
            <Money value={usd} floor={isFloor} />
          </span>
          <span className="number small mute">{counted(calls, "call")}</span>
        </div>
      );
    })}
    {sums.length === 0 && <p className="mute">No recorded calls.</p>}
  </Panel>
);
