import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { PullRequestView } from "#shared/admin/pull-requests.ts";
import { formatDecimal, parseDecimal, plus, ZERO } from "#shared/decimal.ts";
import type { Column } from "../parts/data-table.tsx";
import { counted } from "../parts/format.ts";
import { linkRemedy, linkTone, linkWord } from "../parts/link-words.ts";
import type { Narrow } from "../parts/live-list.tsx";
import { Moment } from "../parts/moment.tsx";
import { Money } from "../parts/money.tsx";
import { PullRequestName } from "../parts/pull-request-name.tsx";
import { ValueLink } from "../parts/value-link.tsx";
import { SessionLink } from "../sessions/session-link.tsx";

/** Columns of the list; each value narrows it. */
export const pullRequestColumns = (
  narrow: Narrow,
  rows: readonly PullRequestView[],
): Column<PullRequestView>[] => {
  const [name, ...labels] = withFoot(
    nameColumns(narrow),
    "name",
    `${counted(rows.length, "pull request")} shown`,
  );
  const costs = withFoot(costColumns(narrow), "cost", <Total rows={rows} />);
  const isCost = ({ id }: Column<PullRequestView>) => id === "cost";
  // The cost is second, so that it is in sight however narrow the window is.
  return [...(name ? [name] : []), ...costs.filter(isCost), ...labels, ...costs.filter((it) => !isCost(it))];
};

const withFoot = (columns: Column<PullRequestView>[], id: string, foot: ReactNode) =>
  columns.map((column) => (column.id === id ? { ...column, foot } : column));

/** The known cost of a session counts once, however many pull requests name it. */
export function totalOf(rows: readonly PullRequestView[]): { usd: string; isFloor: boolean } {
  const merged = rows.filter(({ state }) => state === "merged");
  const once = new Map(
    merged.flatMap(({ id, session, session_cost_usd: usd }) =>
      usd === null ? [] : [[session ?? id, parseDecimal(usd)] as const],
    ),
  );
  return {
    usd: formatDecimal([...once.values()].reduce(plus, ZERO)),
    isFloor: merged.some((row) => row.session_cost_usd === null || row.session_cost_is_lower_bound),
  };
}

function Total({ rows }: { rows: readonly PullRequestView[] }) {
  const { usd, isFloor } = totalOf(rows);
  return (
    <>
      <Money value={usd} floor={isFloor && "At least this: some merges have no known cost."} />
      <small className="mute">of merges</small>
    </>
  );
}

const nameColumns = (narrow: Narrow): Column<PullRequestView>[] => [
  {
    id: "name",
    head: "Pull request",
    cell: ({ repository, number, author }) => (
      <>
        <PullRequestName repository={repository} number={number} />
        <small>
          <ValueLink
            text={author}
            choose={(value) => narrow("author", value)}
            none="Its author is not known."
          />
        </small>
      </>
    ),
  },
  {
    id: "repository",
    head: "Repository",
    cell: ({ repository }) => (
      <ValueLink
        text={repository}
        choose={(value) => narrow("repository", value)}
        none="The App no longer sees it."
      />
    ),
  },
  {
    id: "state",
    head: "State, date",
    sort: ({ merged_at: merged, opened_at: opened }) => merged ?? opened,
    cell: ({ state, merged_at: merged, opened_at: opened }) => (
      <>
        <button type="button" className="value-link" onClick={() => narrow("state", state)}>
          {state}
        </button>
        <small>
          <Moment at={merged ?? opened} form="day" unknown="GitHub has not said when." />
        </small>
      </>
    ),
  },
];

const costColumns = (narrow: Narrow): Column<PullRequestView>[] => [
  {
    id: "link",
    head: "Session",
    cell: ({ link, session }) => (
      <>
        <button type="button" className="value-link" onClick={() => narrow("link", link)}>
          <span className={`tag ${linkTone(link)}`}>{linkWord(link)}</span>
        </button>
        {linkRemedy(link) === null && (
          <small>
            <SessionLink session={session} none="Its body names no session." />
          </small>
        )}
      </>
    ),
  },
  {
    id: "calls",
    head: "Calls",
    isNumber: true,
    sort: ({ session_requests: calls }) => calls,
    cell: ({ session_requests: calls, session }) =>
      session === null ? (
        "–"
      ) : (
        <Link to="/requests" search={{ session }}>
          {calls}
        </Link>
      ),
  },
  {
    id: "cost",
    head: "Cost",
    isNumber: true,
    sort: ({ session_cost_usd: cost }) => (cost === null ? null : Number(cost)),
    cell: ({
      session_cost_usd: cost,
      session_cost_is_lower_bound: floor,
      link,
      settled,
      merged_at: merged,
    }) => (
      <>
        <Money
          value={cost}
          floor={floor}
          unknown={
            linkRemedy(link) === null ? "No call of its session has a known cost." : "It is not joined."
          }
        />
        {merged !== null && cost !== null && settled === false && <small>can change</small>}
      </>
    ),
  },
];
