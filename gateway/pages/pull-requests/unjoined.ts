import type { PullRequestView } from "#shared/admin/records.ts";

/** States of a merge that has no known cost, and that somebody can mend. */
export const UNJOINED_LINKS = ["no_stamp", "conflict", "unknown_session", "claimed"] as const;
export type UnjoinedLink = (typeof UNJOINED_LINKS)[number];

export type Unjoined = { author: string | null; link: UnjoinedLink; count: number };

/** Merges without a cost, by author and cause; most first. */
export function byAuthor(
  merges: readonly (Pick<PullRequestView, "author"> & { link: UnjoinedLink })[],
): Unjoined[] {
  const groups = new Map<string, Unjoined>();
  for (const { author, link } of merges) {
    const key = `${link} ${author}`;
    const found = groups.get(key);
    groups.set(key, { author, link, count: (found?.count ?? 0) + 1 });
  }
  return [...groups.values()].toSorted((a, b) => b.count - a.count);
}
