import { Link } from "@tanstack/react-router";
import type { RequestView } from "#shared/admin/records.ts";
import type { Column } from "../parts/data-table.tsx";
import { count, duration } from "../parts/format.ts";
import type { Narrow } from "../parts/live-list.tsx";
import { Moment } from "../parts/moment.tsx";
import { Money } from "../parts/money.tsx";
import { ValueLink } from "../parts/value-link.tsx";
import { SessionLink } from "../sessions/session-link.tsx";
import { RequestState } from "./request-state.tsx";

const tokens = ({ input_tokens: input, output_tokens: output }: RequestView) =>
  input === null && output === null ? "–" : `${count(input ?? 0)} in, ${count(output ?? 0)} out`;

/** Columns of the list; each value narrows it. */
export const requestColumns = (narrow: Narrow): Column<RequestView>[] => [
  TIME,
  // Second, so that it is in sight however narrow the window is.
  COST,
  ...labelColumns(narrow),
  ...figureColumns(narrow),
];

const TIME: Column<RequestView> = {
  id: "time",
  head: "Time",
  cell: ({ id, started_at: at }) => (
    <Link to="/requests/$id" params={{ id }} className="row-link">
      <Moment at={at} />
    </Link>
  ),
};

const COST: Column<RequestView> = {
  id: "cost",
  head: "Cost",
  isNumber: true,
  cell: (row) => (
    <Money
      value={row.cost_usd}
      floor={row.partial}
      ceiling={row.ceiling}
      unknown={
        row.unpriced ? "No price is known for it, or the provider reported no usage." : "Nothing was billed."
      }
    />
  ),
};

const labelColumns = (narrow: Narrow): Column<RequestView>[] => [
  {
    id: "model",
    head: "Model",
    cell: ({ model, route }) => (
      <>
        <ValueLink text={model} choose={(value) => narrow("model", value)} none="No model was chosen." />
        <small>
          <ValueLink text={route} choose={(value) => narrow("route", value)} />
        </small>
      </>
    ),
  },
  {
    id: "person",
    head: "Person",
    cell: ({ owner, user_label: user, key_name: key, team }) => (
      <>
        <ValueLink
          text={owner}
          choose={(value) => narrow("owner", value)}
          none="The key has no owner: a service account."
        />
        <small>
          {team !== null && (
            <>
              <ValueLink text={team} choose={(value) => narrow("team", value)} /> ·{" "}
            </>
          )}
          <ValueLink
            text={user ?? key}
            choose={(value) => narrow(user === null ? "key" : "user", value)}
            none="The key was deleted."
          />
        </small>
      </>
    ),
  },
  clientColumn(narrow),
];

const figureColumns = (narrow: Narrow): Column<RequestView>[] => [
  { id: "state", head: "State", cell: (row) => <RequestState row={row} choose={narrow} /> },
  { id: "tokens", head: "Tokens", isNumber: true, cell: tokens },
  latencyColumn(),
];

type Called = { client: string | null; session: string | null };

/** The program that made a call, and its session. */
export const clientColumn = <Row extends Called>(narrow: Narrow): Column<Row> => ({
  id: "client",
  head: "Client",
  cell: ({ client, session }) => (
    <>
      <ValueLink text={client} choose={(value) => narrow("client", value)} />
      <small>
        <SessionLink session={session} />
      </small>
    </>
  ),
});

/** How long a call took. */
export const latencyColumn = <Row extends { latency_ms: number | null }>(): Column<Row> => ({
  id: "latency",
  head: "Latency",
  isNumber: true,
  cell: ({ latency_ms: ms }) => (ms === null ? "–" : duration(ms)),
});
