import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Page } from "#shared/admin/fields.ts";
import type { Me } from "#shared/admin/me.ts";
import type { PullRequestView } from "#shared/admin/pull-requests.ts";
import type { Result } from "#shared/report.ts";
import { useAddress } from "../data/address.ts";
import { getJson, queryOf } from "../data/api.ts";
import { useMe } from "../data/me.ts";
import { OWN_GROUPS } from "../data/parameters.ts";
import { frameSearch, oneNameOf } from "../data/search.ts";
import { BudgetBar } from "../parts/budget-bar.tsx";
import { utcDay } from "../parts/dates.ts";
import { plainName } from "../parts/foreign.tsx";
import { Money } from "../parts/money.tsx";
import { PageHead, Panel } from "../parts/page-head.tsx";
import { Answered } from "../parts/states.tsx";
import { ConnectAgent } from "./connect-agent.tsx";
import { OwnKeys } from "./own-keys.tsx";
import { OwnPullRequests } from "./own-pull-requests.tsx";
import { OwnSeats } from "./own-seats.tsx";
import { OwnSignIns } from "./own-sign-ins.tsx";
import { type OwnSearch, OwnUsage } from "./own-usage.tsx";

const readSearch = (raw: Record<string, unknown>): OwnSearch => {
  const by = oneNameOf(OWN_GROUPS, raw["by"]);
  return { ...frameSearch(raw), ...(by && { by }) };
};

const PULL_REQUESTS_MAX = 10;

const totalsOf = ({ total: { current } }: Result) => [current?.requests ?? 0, Number(current?.cost_usd ?? 0)];

/** Whether no call ended between the answers. The month of `me` is that of UTC. */
function isOneMoment(me: Me, days: Result, groups: Result): boolean {
  const [calls, usd] = totalsOf(days);
  const isMonth = days.spec.range === "mtd" && me.report_time_zone === "UTC";
  return calls === totalsOf(groups)[0] && (!isMonth || usd === Number(me.month.cost_usd ?? 0));
}

/** How often figures of different moments are asked for again. */
const ASKED_AGAIN = 3;

/** All figures of the page, of one moment. */
const ownQuery = ({ by = "session", range, from, to }: OwnSearch, { role, github_login: login }: Me) => ({
  queryKey: ["own", by, range, from, to],
  queryFn: async ({ signal }: { signal: AbortSignal }) => {
    const usage = (group: string) =>
      getJson<Result>(`/v1/me/usage${queryOf({ by: group, range, from, to })}`, signal);
    // A member's list is their own; that of others is narrowed to what they opened.
    const author = role === "member" ? undefined : login;
    const pulls = `/admin/v1/pull-requests${queryOf({ limit: PULL_REQUESTS_MAX, author: author ?? undefined })}`;
    for (let left = ASKED_AGAIN; ; left--) {
      const [me, days, groups, pullRequests] = await Promise.all([
        getJson<Me>("/v1/me", signal),
        usage("day"),
        usage(by),
        author !== null ? getJson<Page<PullRequestView>>(pulls, signal) : null,
      ]);
      const zone = { time_zone: me.report_time_zone };
      if (left === 0 || isOneMoment(me, days, groups)) {
        return { me, pullRequests, days: { ...days, ...zone }, groups: { ...groups, ...zone } };
      }
    }
  },
  refetchInterval: 10_000,
  placeholderData: keepPreviousData,
});

/** A person's own spend, budget, sessions and pull requests, keys, and how to connect an agent. */
export function MePage() {
  const [search, change] = useAddress(readSearch);
  const who = useMe();
  const [secret, setSecret] = useState<string | null>(null);
  const query = useQuery(ownQuery(search, who));
  return (
    <>
      <PageHead title="My usage" />
      <Answered query={query}>
        {({ me, days, groups, pullRequests }) => (
          <>
            <Month me={me} />
            <OwnUsage days={days} groups={groups} search={search} change={change} />
            {pullRequests && <OwnPullRequests items={pullRequests.data} isPart={me.role === "member"} />}
            <OwnSeats />
            <OwnKeys keys={me.keys} made={setSecret} />
            <Panel
              title="Connect an agent"
              sub="Each sample makes a call. With a key, it also uses a route of yours."
            >
              <ConnectAgent {...(secret !== null && { secret })} />
            </Panel>
            <OwnSignIns sessions={me.sessions} />
          </>
        )}
      </Answered>
    </>
  );
}

/** When budgets of a month are full again: the first of the next one, of UTC. */
function nextMonth(now = new Date()): string {
  return utcDay(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1));
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
      {month.budget_usd !== undefined && month.budget_left_usd !== undefined && (
        <>
          <dt>Budget</dt>
          <dd>
            <Money value={month.budget_left_usd} /> of <Money value={month.budget_usd} /> left; it renews on{" "}
            {nextMonth()} (UTC).
            <BudgetBar share={usedShare(month.budget_usd, month.budget_left_usd)} />
          </dd>
        </>
      )}
    </dl>
  </Panel>
);

// For the bar only; the amounts are shown as they are.
const usedShare = (budget: string, left: string): number =>
  Number(budget) > 0 ? 1 - Number(left) / Number(budget) : 1;
