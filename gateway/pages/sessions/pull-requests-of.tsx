import { useQuery } from "@tanstack/react-query";
import type { Page } from "#shared/admin/fields.ts";
import type { PullRequestView } from "#shared/admin/pull-requests.ts";
import { getJson, queryOf } from "../data/api.ts";
import { PullRequestName } from "../parts/pull-request-name.tsx";

const SHOWN_MAX = 50;

/** The pull requests whose bodies name a session. */
export const usePullRequestsOf = (session: string) =>
  useQuery({
    queryKey: ["session-pull-requests", session],
    queryFn: ({ signal }) =>
      getJson<Page<PullRequestView>>(
        `/admin/v1/pull-requests${queryOf({ session, limit: SHOWN_MAX })}`,
        signal,
      ),
  });

/** Their names, where there are any. */
export const PullRequestsOf = ({ session }: { session: string }) =>
  usePullRequestsOf(session).data?.data.map(({ id, repository, number }) => (
    <span key={id}>
      {" "}
      · <PullRequestName repository={repository} number={number} />
    </span>
  ));
