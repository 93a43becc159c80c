import { answerInFull, relayedAnswer } from "../batch/answers.ts";
import { settleResponse } from "../batch/background-responses.ts";
import { notFoundAtVendor, requireProviderId } from "../batch/deps.ts";
import type { Directory, Provider } from "../directory.ts";
import { refuse } from "../errors.ts";
import { isEventType } from "../http/content-type.ts";
import { clientHeaders } from "../http/headers.ts";
import { type Caller, type CallerCheck, keyed } from "../plugins/client-key.ts";
import type { KeptResponse } from "../stores/foreign-ids.ts";
import type { ProviderApi } from "../upstream/provider-api.ts";
import { queryOf } from "./batch-surface.ts";
import { documented, NO_CLIENT_KEY } from "./documented.ts";

export type KeptResponsesDeps = {
  callers: CallerCheck;
  directory: { current(): Pick<Directory, "providers"> };
  /** The key that made a response, and the provider that keeps it; null: no key of this gateway made it. */
  findKeptResponse(id: string): Promise<KeptResponse | null>;
  providerApi: ProviderApi;
} & Parameters<typeof settleResponse>[0];

/** Parameters of OpenAI's that are forwarded. */
const PARAMETERS = new Set(["include", "include[]", "include_obfuscation", "stream", "starting_after"]);
const LIST_PARAMETERS = new Set(["include", "include[]", "limit", "after", "before", "order"]);
const NONE = new Set<string>();

/** What a response of a provider's can be asked, and the parameters of each question. */
const QUESTIONS = [
  { method: "GET", end: "", summary: "Read a response", allowed: PARAMETERS },
  { method: "DELETE", end: "", summary: "Delete a response", allowed: NONE },
  { method: "POST", end: "/cancel", summary: "Cancel a response", allowed: NONE },
  { method: "GET", end: "/input_items", summary: "List the input of a response", allowed: LIST_PARAMETERS },
] as const;

/** `/v1/responses/{id}`: responses that a provider keeps, for the key that made them. Nothing here is billed. */
export function keptResponses(deps: KeptResponsesDeps, root = "/v1") {
  const app = keyed(deps, `kept-responses${root}`);
  for (const { summary, ...question } of QUESTIONS) {
    const answer = ({ request, caller, params }: Asked) =>
      ask(deps, request, { ...question, id: params.id ?? "", keyId: caller.key.id });
    const options = { clientKey: true, parse: "none", detail: documented(summary, DOCS) } as const;
    app.route(question.method, `${root}/responses/:id${question.end}`, answer, options);
  }
  return app;
}

type Asked = { request: Request; caller: Caller; params: { id?: string } };

const DOCS = {
  tag: "Model surfaces",
  description: "Answered by the provider that keeps it, unchanged. A response of another key is 404.",
  answers: { 200: "The provider's answer.", ...NO_CLIENT_KEY, 404: "The key has no such response." },
};

type Question = Omit<(typeof QUESTIONS)[number], "summary"> & { id: string; keyId: string };

async function ask(deps: KeptResponsesDeps, request: Request, question: Question): Promise<Response> {
  const { method, keyId, end, allowed } = question;
  const id = requireProviderId(question.id, "response");
  const query = queryOf(request);
  for (const name of query.keys()) {
    if (!allowed.has(name)) refuse(`${name.slice(0, 100)}: Unknown parameter.`);
  }
  const kept = await deps.findKeptResponse(id);
  if (kept && kept.keyId !== keyId) throw notFoundAtVendor("response");
  const text = query.toString();
  const about = {
    provider: keeperOf(deps.directory.current(), kept),
    wire: "responses",
    path: `/responses/${id}`,
    headers: request.headers,
    signal: request.signal,
  } as const;
  if (kept?.pending && method === "DELETE") {
    // Its usage is deleted with it.
    const last = await deps.providerApi({ ...about, method: "GET" });
    await settleResponse(deps, kept, await answerInFull(last));
  }
  const answer = await deps.providerApi({
    ...about,
    method,
    path: `${about.path}${end}${text === "" ? "" : `?${text}`}`,
  });
  if (kept?.pending && answer.ok && !isEventType(answer.headers.get("content-type"))) {
    const bytes = await answerInFull(answer);
    await settleResponse(deps, kept, bytes);
    return relayedAnswer(answer, bytes);
  }
  return new Response(answer.body, { status: answer.status, headers: clientHeaders(answer.headers) });
}

/** The provider that keeps a response. Of one that no key of this gateway made it can only be the vendor itself. */
function keeperOf({ providers }: Pick<Directory, "providers">, kept: KeptResponse | null): Provider {
  const keeper = kept
    ? providers.get(kept.provider ?? "")
    : [...providers.values()].find(({ kind, enabled }) => kind === "openai" && enabled);
  if (!keeper) throw notFoundAtVendor("response");
  return keeper;
}
