import type { Github } from "./octokit.ts";

/** GitHub answered a query with errors. `status` and `response` are as in Octokit's errors, so that `waitMsOf` reads them. */
export class GraphqlFailure extends Error {
  override readonly name = "GraphqlFailure";
  readonly status: number;
  readonly types: readonly string[];
  readonly response: { headers: object };
  constructor(status: number, types: readonly string[], response: { headers: object }) {
    super("GitHub answered a query with errors");
    this.status = status;
    this.types = types;
    this.response = response;
  }
}

type Answer = { data?: unknown; errors?: readonly { type?: string; extensions?: { code?: string } }[] };

/** A query's data; gone objects are null. @throws GraphqlFailure, of status 429 when GitHub refused too many calls. */
export async function queryGithub(
  github: Github,
  query: string,
  variables: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  const { baseUrl } = github.request.endpoint.DEFAULTS;
  // An Enterprise Server has it beside its REST API.
  const url = `${baseUrl.replace(/\/api\/v3\/?$/, "/api")}/graphql`;
  const { data: body, headers } = await github.request({
    method: "POST",
    url,
    baseUrl,
    headers: {},
    query,
    variables,
  });
  // GraphQL's own form of an answer.
  const { data, errors = [] } = body as Answer;
  const types = errors.map(({ type, extensions }) => type ?? extensions?.code ?? "unknown");
  const isAnswered = typeof data === "object" && data !== null && types.every((type) => type === "NOT_FOUND");
  if (isAnswered) return data;
  throw new GraphqlFailure(types.includes("RATE_LIMITED") ? 429 : 422, types, { headers });
}
