import { Link } from "@tanstack/react-router";
import type { Page } from "#shared/admin/fields.ts";
import type { PullRequestView } from "#shared/admin/pull-requests.ts";
import { queryOf, useJson } from "../data/api.ts";
import { PullRequestName } from "../parts/pull-request-name.tsx";
import { CopyId, ShortId } from "../parts/short-id.tsx";
import { Unknown } from "../parts/values.tsx";

type SessionLinkProps = { session: string | null; none?: string };

/** A session's short id, linked to its page, with a button that copies the whole id. */
export const SessionLink = ({ session, none = "The client sent no session." }: SessionLinkProps) =>
  session === null ? (
    <Unknown reason={none} />
  ) : (
    <span className="nowrap">
      <Link to="/sessions/$session" params={{ session }} className="value-link">
        <ShortId id={session} />
      </Link>
      <CopyId id={session} what="session's id" />
    </span>
  );

const SHOWN_MAX = 50;

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
