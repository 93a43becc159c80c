import { Link } from "@tanstack/react-router";
import type { PullRequestView } from "#shared/admin/pull-requests.ts";
import { formatDecimal, parseDecimal, plus, ZERO } from "#shared/decimal.ts";
import { type Columns, cell, figure } from "../parts/columns.tsx";
import { counted } from "../parts/format.ts";
import { LinkTag, linkRemedy } from "../parts/link-words.tsx";
import { PullRequestName } from "../parts/pull-request-name.tsx";
import { type Narrow, ValueLink, valueLinks } from "../parts/value-link.tsx";
import { Moment, Money } from "../parts/values.tsx";
import { SessionLink } from "../sessions/session-link.tsx";

type Rows = readonly PullRequestView[];

export function pullRequestColumns(narrow: Narrow, rows: Rows): Columns<PullRequestView> {
  const link = valueLinks(narrow);
  return {
    name: {
      ...cell("Pull request", ({ repository, number, author }) => (
        <>
          <PullRequestName repository={repository} number={number} />
          <small>{link("author", author, "Its author is not known.")}</small>
        </>
      )),
      foot: `${counted(rows.length, "pull request")} shown`,
    },
    // The cost is second, so that it is in sight however narrow the window is.
    cost: {
      ...figure(
        "Cost",
        (row) => <Cost {...row} />,
        ({ session_cost_usd: cost }) => (cost === null ? null : Number(cost)),
      ),
      foot: <Total rows={rows} />,
    },
    repository: cell("Repository", ({ repository }) =>
      link("repository", repository, "The App no longer sees it."),
    ),
    state: cell(
      "State, date",
      ({ state, merged_at: merged, opened_at: opened }) => (
        <>
          {link("state", state)}
          <small>
            <Moment at={merged ?? opened} form="day" unknown="GitHub has not said when." />
          </small>
        </>
      ),
      ({ merged_at: merged, opened_at: opened }) => merged ?? opened,
    ),
    link: cell("Session", (row) => (
      <>
        <ValueLink text={row.link} choose={(value) => narrow("link", value)}>
          <LinkTag link={row.link} />
        </ValueLink>
        {linkRemedy(row.link) === null && (
          <small>
            <SessionLink session={row.session} none="Its body names no session." />
          </small>
        )}
      </>
    )),
    calls: figure(
      "Calls",
      ({ session_requests: calls, session }) =>
        session === null ? (
          "–"
        ) : (
          <Link to="/requests" search={{ session }}>
            {calls}
          </Link>
        ),
      ({ session_requests: calls }) => calls,
    ),
  };
}

function Cost(row: PullRequestView) {
  const { session_cost_usd: cost, session_cost_is_lower_bound: floor, merged_at: merged, settled } = row;
  const isJoined = linkRemedy(row.link) === null;
  const unknown = isJoined ? "No call of its session has a known cost." : "It is not joined.";
  return (
    <>
      <Money value={cost} floor={floor} unknown={unknown} />
      {merged !== null && cost !== null && settled === false && <small>can change</small>}
    </>
  );
}

/** The known cost of a session counts once, however many pull requests name it, unless it is split between them. */
export function totalOf(rows: Rows): { usd: string; isFloor: boolean } {
  const merged = rows.filter(({ state }) => state === "merged");
  const once = new Map(
    merged.flatMap(({ id, session, session_cost_usd: usd, session_is_split: isSplit }) =>
      usd === null ? [] : [[isSplit ? id : (session ?? id), parseDecimal(usd)] as const],
    ),
  );
  return {
    usd: formatDecimal([...once.values()].reduce(plus, ZERO)),
    isFloor: merged.some((row) => row.session_cost_usd === null || row.session_cost_is_lower_bound),
  };
}

function Total({ rows }: { rows: Rows }) {
  const { usd, isFloor } = totalOf(rows);
  return (
    <>
      <Money value={usd} floor={isFloor && "At least this: some merges have no known cost."} />
      <small className="mute">of merges</small>
    </>
  );
}
