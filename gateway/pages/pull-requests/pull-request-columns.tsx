import { Link } from "@tanstack/react-router";
import type { PullRequestView } from "#shared/admin/pull-requests.ts";
import type { Column } from "../parts/data-table.tsx";
import { linkRemedy, linkTone, linkWord } from "../parts/link-words.ts";
import { Moment } from "../parts/moment.tsx";
import { Money } from "../parts/money.tsx";
import { PullRequestName } from "../parts/pull-request-name.tsx";
import { ValueLink } from "../parts/value-link.tsx";
import { SessionLink } from "../sessions/session-link.tsx";

type Narrow = (name: string, value: string) => void;

/** Columns of the list; each value narrows it. */
export const pullRequestColumns = (narrow: Narrow): Column<PullRequestView>[] => [
  ...nameColumns(narrow),
  ...costColumns(narrow),
];

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
    head: "State",
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
        <small>
          {linkRemedy(link) ?? <SessionLink session={session} none="Its body names no session." />}
        </small>
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
    cell: ({ session_cost_usd: cost, session_cost_is_lower_bound: floor, link }) => (
      <Money
        value={cost}
        floor={floor}
        unknown={linkRemedy(link) ?? "No call of its session has a known cost."}
      />
    ),
  },
];
