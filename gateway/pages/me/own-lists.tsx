import { useQueryClient } from "@tanstack/react-query";
import type { OwnSession } from "#shared/admin/me.ts";
import type { PullRequestView } from "#shared/admin/pull-requests.ts";
import type { SeatUse } from "#shared/admin/seats.ts";
import { sendJson, useJson } from "../data/api.ts";
import { Act } from "../parts/act.tsx";
import { type Columns, cell, moment, text } from "../parts/columns.tsx";
import { DataTable } from "../parts/data-table.tsx";
import { counted } from "../parts/format.ts";
import { LinkTag, linkRemedy } from "../parts/link-words.tsx";
import { Panel } from "../parts/page.tsx";
import { PullRequestName } from "../parts/pull-request-name.tsx";
import { Money, plainName } from "../parts/values.tsx";

type OwnPullRequestsProps = { items: readonly PullRequestView[]; isPart: boolean };

/** The latest pull requests of one's own. `isPart`: with the cost of one's own calls, not of all. */
export function OwnPullRequests({ items, isPart }: OwnPullRequestsProps) {
  return (
    <Panel
      title="My pull requests"
      sub={
        isPart
          ? "The latest ones with your calls, and the cost of your part."
          : "The latest ones that you opened, and their cost."
      }
    >
      {items.map(({ id, repository, number, link, ...it }) => (
        <div className="bar-row" key={id}>
          <PullRequestName repository={repository} number={number} />
          <LinkTag link={link} />
          <span className="number">
            <Money
              value={it.session_cost_usd}
              floor={it.session_cost_is_lower_bound}
              {...(linkRemedy(link) !== null && { unknown: linkRemedy(link) ?? "" })}
            />
          </span>
        </div>
      ))}
      {items.length === 0 && (
        <p className="mute">{isPart ? "No pull request names a session of yours yet." : "None yet."}</p>
      )}
    </Panel>
  );
}

/** Own subscriptions of this month, and what their use would cost. Nothing is shown without one. */
export function OwnSeats() {
  const { data } = useJson<SeatUse>(["own", "seats"], "/v1/me/seats");
  if (!data || data.seats.length === 0) return null;
  return (
    <Panel
      title="My subscriptions"
      sub="What they cost this month, and what their use would cost by the price list."
    >
      {data.seats.map(({ vendor, plan, cost_usd, calls, value_usd }) => (
        <div className="bar-row" key={`${vendor} ${plan}`}>
          <span>
            {vendor} {plan}
          </span>
          <span className={calls === 0 ? "tag warn" : "tag"}>
            {calls === null ? "use is not seen here" : calls === 0 ? "not used" : counted(calls, "call")}
          </span>
          <span className="number">
            <Money value={cost_usd} />
            {calls !== 0 && " for "}
            {calls !== 0 && <Money value={value_usd} unknown="Its use has no known cost." />}
          </span>
        </div>
      ))}
    </Panel>
  );
}

const BROWSERS = { Edg: "Edge", "Firefox|FxiOS": "Firefox", "Chrome|CriOS": "Chrome", Safari: "Safari" };
const SYSTEMS = {
  "iPhone|iPad": "iOS",
  Android: "Android",
  Windows: "Windows",
  Mac: "macOS",
  Linux: "Linux",
};

/** `Chrome on Linux`; of another program what it calls itself. A browser also names those that come later here. */
export function browserOf(agent: string): string {
  const [browser, system] = [BROWSERS, SYSTEMS].map(
    (words) => Object.entries(words).find(([marks]) => new RegExp(marks).test(agent))?.[1],
  );
  return browser && system ? `${browser} on ${system}` : agent;
}

const columns = (end: (id: string) => Promise<void>): Columns<OwnSession> => ({
  browser: cell("Browser", ({ user_agent: agent }) => (
    <span title={plainName(agent ?? "")}>{plainName(browserOf(agent ?? "unknown"))}</span>
  )),
  address: text("Address", ({ address }) => address, "unknown"),
  since: moment("Since", ({ created_at: at }) => at),
  until: moment("Ends", ({ expires_at: at }) => at),
  end: cell("", ({ id, current }) =>
    current ? <span className="mute">this one</span> : <Act act={() => end(id)}>End</Act>,
  ),
});

export function OwnSignIns({ sessions }: { sessions: readonly OwnSession[] }) {
  const client = useQueryClient();
  const end = async (id: string) => {
    await sendJson(`/v1/me/sessions/${encodeURIComponent(id)}`, { method: "DELETE" });
    await client.invalidateQueries({ queryKey: ["own"] });
  };
  return (
    <Panel title="Signed in" sub="End any session that you do not recognise or no longer need.">
      <DataTable label="Sessions" columns={columns(end)} rows={sessions} rowKey={["id"]} />
    </Panel>
  );
}
