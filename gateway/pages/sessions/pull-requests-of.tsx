import type { Page } from "#shared/admin/fields.ts";
import type { PullRequestView } from "#shared/admin/pull-requests.ts";
import { queryOf, useJson } from "../data/api.ts";
import { PullRequestName } from "../parts/pull-request-name.tsx";

const SHOWN_MAX = 50;

/** The pull requests whose bodies name a session. */
export const usePullRequestsOf = (session: string) =>
  useJson<Page<PullRequestView>>(
    ["session-pull-requests", session],
    `/admin/v1/pull-requests${queryOf({ session, limit: SHOWN_MAX })}`,
  );

/** Their names, where there are any. */
export const PullRequestsOf = ({ session }: { session: string }) =>
  usePullRequestsOf(session).data?.data.map(({ id, repository, number }) => (
    <span key={id}>
      {" "}
      · <PullRequestName repository={repository} number={number} />
    </span>
  ));
