import { Link } from "@tanstack/react-router";
import type { RequestView } from "#shared/admin/records.ts";
import { type Column, type Columns, cell, figure } from "../parts/columns.tsx";
import { count, duration } from "../parts/format.ts";
import { type Narrow, valueLinks } from "../parts/value-link.tsx";
import { Moment, Money, plainName } from "../parts/values.tsx";
import { SessionLink } from "../sessions/session-link.tsx";

const tokens = ({ input_tokens: input, output_tokens: output }: RequestView) =>
  input === null && output === null ? "–" : `${count(input ?? 0)} in, ${count(output ?? 0)} out`;

export function requestColumns(narrow: Narrow): Columns<RequestView> {
  const link = valueLinks(narrow);
  return {
    time: cell("Time", ({ id, started_at: at }) => (
      <Link to="/requests/$id" params={{ id }} className="row-link">
        <Moment at={at} />
      </Link>
    )),
    // Second, so that it is in sight however narrow the window is.
    cost: figure("Cost", ({ cost_usd: cost, partial, ceiling, unpriced }) => (
      <Money value={cost} floor={partial} ceiling={ceiling} unknown={unpriced ? UNPRICED : FREE} />
    )),
    model: cell("Model", ({ model, route }) => (
      <>
        {link("model", model, "No model was chosen.")}
        <small>{link("route", route)}</small>
      </>
    )),
    person: cell("Person", ({ owner, user_label: user, key_name: key, team }) => (
      <>
        {link("owner", owner, NO_OWNER)}
        <small>
          {team !== null && link("team", team)}
          {team !== null && " · "}
          {link(user === null ? "key" : "user", user ?? key, NO_KEY)}
        </small>
      </>
    )),
    client: clientColumn(narrow),
    state: cell("State", (row) => <RequestState row={row} choose={narrow} />),
    tokens: figure("Tokens", tokens),
    latency: LATENCY,
  };
}

const UNPRICED = "No price is known for it, or the provider reported no usage.";
const FREE = "Nothing was billed.";

/** Why a call has no owner, or its key no name. */
export const NO_OWNER = "The key has no owner: a service account.";
export const NO_KEY = "The key was deleted.";

type Called = { client: string | null; session: string | null };

export const clientColumn = (narrow: Narrow): Column<Called> =>
  cell("Client", ({ client, session }) => (
    <>
      {valueLinks(narrow)("client", client)}
      <small>
        <SessionLink session={session} />
      </small>
    </>
  ));

/** How long a call took. */
export const LATENCY: Column<{ latency_ms: number | null }> = figure("Latency", ({ latency_ms: ms }) =>
  ms === null ? "–" : duration(ms),
);

type RequestStateProps = { row: RequestView; choose?: (name: string, value: string) => void };

/** How the call ended, in a word, with its status. */
export function RequestState({ row: { state, status, error_type: error }, choose }: RequestStateProps) {
  const isFine = state === "ok";
  const text = `${plainName((error ?? state).replaceAll("_", " "))}${status === null || isFine ? "" : ` · ${status}`}`;
  const tag = <span className={`tag ${isFine ? "good" : "bad"}`}>{isFine ? "ok" : text}</span>;
  if (!choose) return tag;
  const pick = () => (error === null ? choose("state", state) : choose("error_type", error));
  return (
    <button type="button" className="value-link" onClick={pick}>
      {tag}
    </button>
  );
}
