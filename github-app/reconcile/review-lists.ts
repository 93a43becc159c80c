import { type Static, Type } from "@sinclair/typebox";
import { fits, nullable, open } from "#shared/schema.ts";
import { type GraphqlFailure, queryGithub } from "../github/graphql.ts";
import type { Github } from "../github/octokit.ts";

/** A review in the form of GitHub's REST API. */
export type ListedReview = {
  id: number;
  user: { login: string; type: string } | null;
  body: string;
  state: string;
  submitted_at: string | null;
  updated_at: string;
};
type Place = { owner: string; repo: string };

const PULLS_PER_QUERY = 50;
const REVIEWS_PER_PAGE = 50;

const Reviews = open({
  nodes: Type.Array(
    nullable(
      open({
        fullDatabaseId: Type.Union([Type.String(), Type.Integer()]),
        author: nullable(open({ login: Type.String(), __typename: Type.String() })),
        body: Type.String(),
        state: Type.String(),
        submittedAt: nullable(Type.String()),
        updatedAt: Type.String(),
      }),
    ),
  ),
  pageInfo: open({ hasNextPage: Type.Boolean(), endCursor: nullable(Type.String()) }),
});
const Answer = open({
  repository: nullable(Type.Record(Type.String(), nullable(open({ reviews: nullable(Reviews) })))),
});

const FIELDS =
  "nodes { fullDatabaseId author { login __typename } body state submittedAt updatedAt } pageInfo { hasNextPage endCursor }";

/** One query: a page of the reviews of each pull request, from its cursor on. */
const queryOf = (pages: readonly Page[]): string => {
  const members = pages.map(({ number, after }) => {
    const from = after === null ? "" : `, after: ${JSON.stringify(after)}`;
    return `p${number}: pullRequest(number: ${number}) { reviews(first: ${REVIEWS_PER_PAGE}${from}) { ${FIELDS} } }`;
  });
  return `query ($owner: String!, $repo: String!) { repository(owner: $owner, name: $repo) { ${members.join(" ")} } }`;
};

type Page = { number: number; after: string | null };

/** The reviews of pull requests by their number, 50 pull requests to a query; one that is gone has none. */
export async function listReviews(
  github: Github,
  place: Place,
  numbers: readonly number[],
): Promise<Map<number, ListedReview[]>> {
  const found = new Map<number, ListedReview[]>(numbers.map((number) => [number, []]));
  let pages: Page[] = numbers.map((number) => ({ number, after: null }));
  while (pages.length > 0) {
    const now = pages.slice(0, PULLS_PER_QUERY);
    const answer = await queryGithub(github, queryOf(now), place);
    if (!fits(Answer, answer)) throw new Error("GitHub answered a query in an unknown form");
    const more = now.flatMap(({ number }) => {
      const reviews = answer.repository?.[`p${number}`]?.reviews;
      found.get(number)?.push(...(reviews?.nodes ?? []).flatMap((it) => (it === null ? [] : [restForm(it)])));
      const { hasNextPage = false, endCursor = null } = reviews?.pageInfo ?? {};
      return hasNextPage && endCursor !== null ? [{ number, after: endCursor }] : [];
    });
    pages = [...more, ...pages.slice(PULLS_PER_QUERY)];
  }
  return found;
}

type Node = NonNullable<Static<typeof Reviews>["nodes"][number]>;

const restForm = (it: Node): ListedReview => ({
  id: Number(it.fullDatabaseId),
  // REST writes a bot's name with its suffix, GraphQL without.
  user: it.author && {
    login: it.author.__typename === "Bot" ? `${it.author.login}[bot]` : it.author.login,
    type: it.author.__typename,
  },
  body: it.body,
  state: it.state,
  submitted_at: it.submittedAt,
  updated_at: it.updatedAt,
});

/** Whether an older Enterprise Server does not know a field of the query. */
export const isUnknownField = ({ types }: GraphqlFailure): boolean => types.includes("undefinedField");
