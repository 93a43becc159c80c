import { Link } from "@tanstack/react-router";
import type { PullRequestPage } from "#shared/admin/pull-requests.ts";
import { counted } from "./format.ts";
import { Panel } from "./page.tsx";
import { Foreign, Money } from "./values.tsx";

/** What some calls cost together; `name`: what they share. */
export type CostPart = PullRequestPage["models"][number];

export const PartFigures = ({ part }: { part: Omit<CostPart, "name"> }) => (
  <>
    <span className="number">
      <Money value={part.cost_usd} floor={part.is_lower_bound} />
    </span>
    <span className="number small mute">{counted(part.requests, "call")}</span>
  </>
);

type CostPartsProps = {
  title: string;
  parts: readonly CostPart[];
  /** Filters of the list of records that find the calls of one; null: no filters find them. */
  filter: (name: string) => Record<string, string> | null;
  word?: (name: string) => string;
};

/** Parts that add up to a whole. */
export const CostParts = ({ title, parts, filter, word = (name) => name }: CostPartsProps) => (
  <Panel title={title}>
    {parts.map(({ name, ...part }) => {
      const search = name === null ? null : filter(name);
      const shown = <Foreign text={name === null ? "no model" : word(name)} />;
      return (
        <div className="bar-row" key={name}>
          {search ? (
            <Link to="/requests" search={search}>
              {shown}
            </Link>
          ) : (
            shown
          )}
          <PartFigures part={part} />
        </div>
      );
    })}
    {parts.length === 0 && <p className="mute">No recorded calls.</p>}
  </Panel>
);
