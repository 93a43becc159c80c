import { useQuery } from "@tanstack/react-query";
import type { Page } from "#shared/admin/fields.ts";
import type { PullRequestView } from "#shared/admin/pull-requests.ts";
import { plural } from "#shared/plural.ts";
import { getJson, queryOf } from "../data/api.ts";
import { type Columns, cell, number } from "../parts/columns.tsx";
import { DataTable } from "../parts/data-table.tsx";
import { isoDay } from "../parts/dates.ts";
import { counted } from "../parts/format.ts";
import { LinkTag, linkRemedy } from "../parts/link-words.tsx";
import { Panel } from "../parts/page.tsx";
import { ValueLink } from "../parts/value-link.tsx";

const DAYS = 30;
const DAY_MS = 86_400_000;
const SHOWN_MAX = 6;
const ASKED_MAX = 500;

type Choose = (filters: Record<string, string>) => void;

async function ask(link: UnjoinedLink, from: string, signal: AbortSignal) {
  const query = queryOf({ state: "merged", link, from, limit: ASKED_MAX });
  const { data, has_more: hasMore } = await getJson<Page<PullRequestView>>(
    `/admin/v1/pull-requests${query}`,
    signal,
  );
  return { merges: data.map(({ author }) => ({ author, link })), hasMore };
}

/** Merges of the last days without a cost: whose they are, why, and what makes them count. Nothing if there are none. */
export function NotJoined({ choose }: { choose: Choose }) {
  const from = isoDay(Date.now() - (DAYS - 1) * DAY_MS);
  const { data } = useQuery({
    queryKey: ["pull-requests", "not-joined", from],
    queryFn: ({ signal }) => Promise.all(UNJOINED_LINKS.map((link) => ask(link, from, signal))),
    refetchInterval: 30_000,
  });
  const rows = byAuthor(data?.flatMap(({ merges }) => merges) ?? []);
  if (rows.length === 0) return null;
  const more = rows.length - SHOWN_MAX;
  const causes = UNJOINED_LINKS.filter((link) => rows.some((row) => row.link === link));
  const atLeast = data?.some(({ hasMore }) => hasMore) ? "More than " : "";
  const all = rows.reduce((sum, row) => sum + row.count, 0);
  return (
    <Panel
      title="Not joined to a session"
      sub={`${atLeast}${counted(all, "merge")} of the last ${DAYS} days ${plural(all, "has", "have")} no cost. Each counts as soon as it is fixed.`}
    >
      {causes.map((link) => (
        <p key={link} className="small">
          <LinkTag link={link} /> {linkRemedy(link)}
        </p>
      ))}
      <DataTable
        label="Not joined to a session"
        columns={columnsOf(choose, from)}
        rows={rows.slice(0, SHOWN_MAX)}
        rowKey={["link", "author"]}
      />
      {more > 0 && <p className="mute small">And {counted(more, "other")} with no more than these.</p>}
    </Panel>
  );
}

const columnsOf = (choose: Choose, from: string): Columns<Unjoined> => ({
  author: cell("Author", ({ author, link }) => (
    <ValueLink
      text={author}
      choose={(value) => choose({ author: value, link, state: "merged", from })}
      none="Their author is not known."
    />
  )),
  count: number("Merges", (row) => row.count),
  link: cell("Why", ({ link }) => <LinkTag link={link} />),
});

/** States of a merge that has no known cost, and that someone can fix. */
const UNJOINED_LINKS = ["no_stamp", "conflict", "unknown_session", "claimed"] as const;
type UnjoinedLink = (typeof UNJOINED_LINKS)[number];

type Unjoined = { author: string | null; link: UnjoinedLink; count: number };

/** Merges without a cost, by author and cause; most first. */
function byAuthor(merges: readonly (Pick<PullRequestView, "author"> & { link: UnjoinedLink })[]): Unjoined[] {
  const groups = new Map<string, Unjoined>();
  for (const { author, link } of merges) {
    const key = `${link} ${author}`;
    const found = groups.get(key);
    groups.set(key, { author, link, count: (found?.count ?? 0) + 1 });
  }
  return [...groups.values()].toSorted((a, b) => b.count - a.count);
}
