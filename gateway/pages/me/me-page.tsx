import { useQuery } from "@tanstack/react-query";
import type { Me } from "#shared/admin/me.ts";
import { getJson } from "../data/api.ts";
import { plainName } from "../parts/foreign.tsx";
import { Money } from "../parts/money.tsx";
import { PageHead, Panel } from "../parts/page-head.tsx";
import { Answered } from "../parts/states.tsx";
import { ConnectAgent } from "./connect-agent.tsx";
import { OwnKeys } from "./own-keys.tsx";
import { OwnSessions } from "./own-sessions.tsx";
import { OwnUsage } from "./own-usage.tsx";

const OWN = {
  queryKey: ["own"],
  queryFn: () => getJson<Me>("/v1/me"),
  refetchInterval: 10_000,
} as const;

/** What is one's own: this month's spend, keys, sessions, and how to connect an agent. */
export function MePage() {
  const query = useQuery(OWN);
  return (
    <>
      <PageHead title="My usage" />
      <Answered query={query}>
        {(me) => (
          <>
            <Month me={me} />
            <OwnUsage />
            <OwnKeys keys={me.keys} />
            <ConnectAgent />
            <OwnSessions sessions={me.sessions} />
          </>
        )}
      </Answered>
    </>
  );
}

const Month = ({ me: { month, email, team, role } }: { me: Me }) => (
  <Panel
    title="This month"
    sub={`${plainName(email)}, ${role}${team === null ? "" : ` of ${plainName(team)}`}`}
  >
    <dl className="facts">
      <dt>Spent</dt>
      <dd>
        <Money value={month.cost_usd} floor={month.floor} />
      </dd>
      {month.budget_usd !== undefined && (
        <>
          <dt>Budget</dt>
          <dd>
            <Money value={month.budget_usd} />
          </dd>
          <dt>Left</dt>
          <dd>
            <Money value={month.budget_left_usd} />
          </dd>
        </>
      )}
    </dl>
  </Panel>
);
