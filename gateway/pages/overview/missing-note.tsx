import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { OverviewParts } from "../data/overview.ts";
import { count, counted } from "../parts/format.ts";
import { Foreign } from "../parts/values.tsx";

/** What the figures above leave out, and the remedy. */
export function MissingNote({ parts }: { parts: OverviewParts }) {
  const gaps = [unpriced(parts), unjoined(parts)].filter((gap) => gap !== null);
  if (gaps.length === 0) return null;
  return (
    <p className="note">
      <b>What is missing from these figures:</b> {gaps[0]}
      {gaps.length > 1 && <> And {gaps[1]}</>}
    </p>
  );
}

function unpriced({ models, days }: OverviewParts): ReactNode | null {
  const calls = days?.total.current?.unpriced_requests ?? 0;
  if (calls === 0) return null;
  const named = (models?.rows ?? [])
    .filter(({ current }) => (current?.unpriced_requests ?? 0) > 0)
    .toSorted((a, b) => (b.current?.unpriced_requests ?? 0) - (a.current?.unpriced_requests ?? 0));
  const [most] = named;
  return (
    <>
      {counted(calls, "answered call has", "answered calls have")} no known cost
      {most?.groups[0] !== undefined && (
        <>
          , most of them of <Foreign text={most.groups[0]} />
        </>
      )}{" "}
      (
      <Link to="/reports/$id" params={{ id: "unpriced-models" }}>
        which prices are missing
      </Link>
      ).
    </>
  );
}

function unjoined({ repositories }: OverviewParts): ReactNode | null {
  const { merged_prs: merged = 0, joined_prs: joined = 0 } = repositories?.total.current ?? {};
  const missing = (merged ?? 0) - (joined ?? 0);
  if (missing <= 0) return null;
  const missingIn = (row: { current: { merged_prs?: number | null; joined_prs?: number | null } | null }) =>
    (row.current?.merged_prs ?? 0) - (row.current?.joined_prs ?? 0);
  const [most] = (repositories?.rows ?? []).toSorted((a, b) => missingIn(b) - missingIn(a));
  const name = most?.groups[0];
  return (
    <>
      {counted(missing, "merge is", "merges are")} joined to no session
      {most && name !== undefined && missingIn(most) > 0 && (
        <>
          , {count(missingIn(most))} of them in <Foreign text={name} />
        </>
      )}{" "}
      (
      <Link
        to="/pull-requests"
        search={{ state: "merged", link: "no_stamp", ...(name && { repository: name }) }}
      >
        which, and what to do
      </Link>
      ).
    </>
  );
}
