import { type Answerer, ok, text } from "./asked.ts";
import { keyOf, type PullRequest } from "./world.ts";

const MEMBER =
  /p(\d+): pullRequest\(number: (\d+)\) \{ reviews\(first: (\d+)(?:, after: "(\d+)")?\) \{([^}]*\{[^}]*\}[^}]*\{[^}]*\}[^}]*)\}/g;
const KNOWN = new Set(
  "nodes fullDatabaseId author login __typename body state submittedAt updatedAt pageInfo hasNextPage endCursor".split(
    " ",
  ),
);

/** GitHub's GraphQL, as far as one query goes: pages of the reviews of pull requests. */
export const reviewQuery: Answerer = ({ body, caller }, { world }) => {
  const query = text(body["query"]) ?? "";
  const variables = (body["variables"] ?? {}) as { owner?: string; repo?: string };
  const fullName = `${variables.owner}/${variables.repo}`;
  const seen =
    caller.kind === "installation" ? caller.installation.repositories : [...world.repositories.values()];
  const repository = seen.find((it) => it.fullName === fullName);
  if (!repository)
    return ok({ data: { repository: null }, errors: [{ type: "NOT_FOUND", path: ["repository"] }] });
  const members = [...query.matchAll(MEMBER)];
  const unknown = members.flatMap(([, , , , , fields = ""]) =>
    (fields.match(/\w+/g) ?? []).filter((name) => !KNOWN.has(name)),
  );
  if (members.length === 0 || unknown.length > 0)
    return ok({ errors: [{ extensions: { code: "undefinedField" } }] });
  const errors: object[] = [];
  const found = members.map(([, alias = "", number = "", first = "", after]) => {
    const it = world.pullRequests.get(keyOf(repository, Number(number)));
    if (!it) errors.push({ type: "NOT_FOUND", path: ["repository", `p${alias}`] });
    return [`p${alias}`, it ? { reviews: pageOf(it, Number(first), Number(after ?? 0)) } : null];
  });
  const data = { repository: Object.fromEntries(found) };
  return ok(errors.length > 0 ? { data, errors } : { data });
};

function pageOf({ reviews }: PullRequest, first: number, after: number) {
  const nodes = reviews.slice(after, after + first).map((it) => ({
    fullDatabaseId: String(it.id),
    author: it.user && { login: it.user.login.replace(/\[bot\]$/, ""), __typename: it.user.type },
    body: it.body,
    state: it.state,
    submittedAt: it.submittedAt,
    updatedAt: it.updatedAt,
  }));
  const end = after + nodes.length;
  return {
    nodes,
    pageInfo: { hasNextPage: end < reviews.length, endCursor: nodes.length > 0 ? String(end) : null },
  };
}
