// Whose session a pull request names (decision: An outsider's session is a claim). The only definition, as SQL and for rows.
import type { pullRequests } from "./schema/github.ts";

/** GitHub's words for an author who may not write to the repository. */
const OUTSIDE = ["NONE", "FIRST_TIMER", "FIRST_TIME_CONTRIBUTOR", "CONTRIBUTOR"];

type Origin = Pick<typeof pullRequests.$inferSelect, "fromFork" | "authorAssociation">;

/** From a fork, by an author who may not write to the repository. */
export const isFromOutside = ({ fromFork, authorAssociation }: Origin): boolean =>
  fromFork === true && authorAssociation !== null && OUTSIDE.includes(authorAssociation);

/** Whether a session has calls, single or summed, that meet `also`, a condition on such a row `r`. */
export const hasCalls = (session: string, org: string, also = ""): string =>
  `(exists (select from requests r where r.org_id = ${org} and r.session = ${session} ${also})
      or exists (select from rollup_sessions r where r.org_id = ${org} and r.session = ${session} ${also}))`;

/**
 * Whether the author of a pull request `p` owns a call of its session: the owner of its key is that login, the login's
 * private e-mail address on GitHub, or a person with that linked account.
 */
export const isAuthorsSession = (p: string): string =>
  hasCalls(
    `${p}.session`,
    `${p}.org_id`,
    `and (strpos(lower(r.owner), lower(${p}.author_login)) > 0 and regexp_replace(lower(r.owner), '^(\\d+\\+)?([^@]*)@users\\.noreply\\.github\\.com$', '\\2') = lower(${p}.author_login)
      or exists (select from people m where m.org_id = r.org_id and m.email = lower(r.owner) and lower(m.github_login) = lower(${p}.author_login)))`,
  );

/** Whether a pull request `p`, merged or not, only claims its session: it then changes nothing of what other ones cost. */
export const isClaim = (
  p: string,
): string => `coalesce(${p}.link = 'claimed' or ${p}.merged_at is null and ${p}.session is not null and ${p}.from_fork
      and ${p}.author_association in ('${OUTSIDE.join("', '")}')
      and not exists (select from repositories w where w.org_id = ${p}.org_id and w.id = ${p}.repository_id and w.is_private)
      and not ${isAuthorsSession(p)}, false)`;
