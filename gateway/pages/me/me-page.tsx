import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Page } from "#shared/admin/fields.ts";
import type { Me, OwnOverview } from "#shared/admin/me.ts";
import type { PullRequestView } from "#shared/admin/pull-requests.ts";
import { useAddress } from "../data/address.ts";
import { getJson, queryOf } from "../data/api.ts";
import { useMe } from "../data/me.ts";
import { OWN_GROUPS } from "../data/parameters.ts";
import { frameSearch, oneNameOf } from "../data/search.ts";
import { BudgetRows } from "../parts/budget-rows.tsx";
import { RangePicker } from "../parts/frame-controls.tsx";
import { Answered, Facts, PageHead, Panel } from "../parts/page.tsx";
import { Money, plainName } from "../parts/values.tsx";
import { ConnectAgent } from "./connect-agent.tsx";
import { OwnKeys } from "./own-keys.tsx";
import { OwnPullRequests, OwnSeats, OwnSignIns } from "./own-lists.tsx";
import { type OwnSearch, OwnUsage } from "./own-usage.tsx";

const readSearch = (raw: Record<string, unknown>): OwnSearch => {
  const by = oneNameOf(OWN_GROUPS, raw["by"]);
  return { ...frameSearch(raw), ...(by && { by }) };
};

const PULL_REQUESTS_MAX = 10;

/** All figures of the page. Those of calls are of one snapshot. */
const ownQuery = ({ by = "session", range, from, to }: OwnSearch, { role, github_login: login }: Me) => ({
  queryKey: ["own", by, range, from, to],
  queryFn: async ({ signal }: { signal: AbortSignal }) => {
    // A member's list is their own; that of others is narrowed to what they opened.
    const author = role === "member" ? undefined : login;
    const pulls = `/admin/v1/pull-requests${queryOf({ limit: PULL_REQUESTS_MAX, author: author ?? undefined })}`;
    const [me, overview, pullRequests] = await Promise.all([
      getJson<Me>("/v1/me", signal),
      getJson<OwnOverview>(`/v1/me/overview${queryOf({ by, range, from, to })}`, signal),
      author !== null ? getJson<Page<PullRequestView>>(pulls, signal) : null,
    ]);
    return { me, overview, pullRequests };
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
      <PageHead title="My usage">
        <RangePicker search={search} fallback="mtd" change={change} />
      </PageHead>
      <Answered query={query}>
        {({ me, overview, pullRequests }) => (
          <>
            <Month me={me} overview={overview} />
            <OwnUsage overview={overview} search={search} change={change} />
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

type Own = { me: Me; overview: OwnOverview };

const Month = ({ me: { email, team, role }, overview: { month, budgets } }: Own) => (
  <Panel
    title="This month"
    sub={`${plainName(email)}, ${role}${team === null ? "" : ` of ${plainName(team)}`}`}
  >
    <Facts
      of={{
        Spent: <Money value={month.empty ? 0 : month.total.current?.cost_usd} floor={month.total.floor} />,
      }}
    />
    <BudgetRows budgets={budgets} renews />
  </Panel>
);
