import { answerInFull, relayedAnswer } from "../batch/answers.ts";
import { settleResponse } from "../batch/background-responses.ts";
import { notFoundAtVendor, requireProviderId } from "../batch/deps.ts";
import type { Directory, Provider } from "../directory.ts";
import { refuse } from "../errors.ts";
import { isEventType } from "../http/content-type.ts";
import { clientHeaders } from "../http/headers.ts";
import { type CallerCheck, keyed } from "../plugins/client-key.ts";
import type { KeptResponse } from "../stores/foreign-ids.ts";
import type { ProviderApi } from "../upstream/provider-api.ts";
import { queryOf } from "./batch-surface.ts";

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

/** `/v1/responses/{id}`: responses that a provider keeps, for the key that made them. Nothing here is billed. */
export const keptResponses = (deps: KeptResponsesDeps, root = "/v1") =>
  keyed(deps, `kept-responses${root}`)
    .get(
      `${root}/responses/:id`,
      ({ request, caller, params }) =>
        ask(deps, request, { id: params.id, keyId: caller.key.id, allowed: PARAMETERS }),
      docs("Read a response"),
    )
    .delete(
      `${root}/responses/:id`,
      ({ request, caller, params }) => ask(deps, request, { id: params.id, keyId: caller.key.id }),
      docs("Delete a response"),
    )
    .post(
      `${root}/responses/:id/cancel`,
      ({ request, caller, params }) =>
        ask(deps, request, { id: params.id, keyId: caller.key.id, end: "/cancel" }),
      docs("Cancel a response"),
    )
    .get(
      `${root}/responses/:id/input_items`,
      ({ request, caller, params }) => {
        const what = { id: params.id, keyId: caller.key.id, end: "/input_items" };
        return ask(deps, request, { ...what, allowed: LIST_PARAMETERS });
      },
      docs("List the input of a response"),
    );

const docs = (summary: string) => ({
  clientKey: true as const,
  parse: "none" as const,
  detail: {
    summary,
    description: "Answered by the provider that keeps it, unchanged. A response of another key is 404.",
    tags: ["Model surfaces"],
    security: [{ clientKey: [] }],
    responses: {
      "200": { description: "The provider's answer." },
      "401": { description: "No valid client key." },
      "404": { description: "The key has no such response." },
    },
  },
});

type Question = { id: string; keyId: string; end?: string; allowed?: ReadonlySet<string> };

async function ask(deps: KeptResponsesDeps, request: Request, question: Question): Promise<Response> {
  const { keyId, end = "", allowed = new Set() } = question;
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
  const { method } = request;
  if (kept?.pending && method === "DELETE") {
    // Its usage is deleted with it.
    const last = await deps.providerApi({ ...about, method: "GET" });
    await settleResponse(deps, kept, await answerInFull(last));
  }
  const answer = await deps.providerApi({
    ...about,
    // The routes above accept no other method.
    method: method as "GET" | "POST" | "DELETE",
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
