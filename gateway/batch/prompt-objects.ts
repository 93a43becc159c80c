import { errorFields } from "#shared/log.ts";
import type { ClientKey, Provider } from "../directory.ts";
import { GatewayError } from "../errors.ts";
import { evaluateGuardrails } from "../guardrail/evaluate.ts";
import { pace } from "../guardrail/pace.ts";
import { clientHeaders, type HeaderTable } from "../http/headers.ts";
import { readLabels } from "../http/labels.ts";
import { forwardedQuery } from "../http/query.ts";
import { scanJson } from "../http/scan.ts";
import type { ProviderKind } from "../providers/catalog.ts";
import { objectOf, parseObject } from "../providers/provider-json.ts";
import { VENDORS } from "../providers/vendors.ts";
import { requireVendorPath } from "../routing/pass-through.ts";
import { requireModelScope } from "../routing/scope.ts";
import { type FileRow, findFile, insertFiles, markFileDeleted } from "../stores/batches.ts";
import type { WireName } from "../surface-facts.ts";
import { type Json, jsonBytes } from "../translate/exact-json.ts";
import { type RequestBody, streamOf } from "../upstream/request-body.ts";
import { answerInFull, relayedAnswer, relayedFile } from "./answers.ts";
import { type BatchDeps, notFoundAtVendor, providerNamed } from "./deps.ts";
import { vendorIdOf, withItems } from "./own-items.ts";
import { fileFacts } from "./read-answer.ts";

/** What a vendor keeps for prompts: the kinds of providers that have it, and the format of their addresses. */
const KEEPERS = {
  openai: { kinds: ["openai", "azure"], wire: "chat" },
  anthropic: { kinds: ["anthropic"], wire: "messages" },
  google: { kinds: ["gemini"], wire: "gemini" },
} as const satisfies Record<string, { kinds: readonly ProviderKind[]; wire: WireName }>;
export type Keeper = keyof typeof KEEPERS;

export type ObjectRequest = {
  key: ClientKey;
  request: Request;
  keeper: Keeper;
  /** The vendor's own path; of OpenAI's, below its API root. */
  path: string;
  body: RequestBody | null;
  /** What is stored of a new object as its purpose. */
  purpose: string;
  /** Where clients reach the gateway. */
  origin: string;
};

/**
 * A request about files, skills or cached prompts at their vendor, passed on as it is. What is made belongs to its key:
 * for others it is not there, and lists have the key's own only. Nothing here is billed by calls, so nothing is recorded.
 * @throws GatewayError not_found, guardrail_blocked, provider_unconfigured
 */
export async function askForObject(deps: BatchDeps, it: ObjectRequest): Promise<Response> {
  const { key, request, keeper, path, body } = it;
  requireModelScope(key);
  const ids = requireVendorPath(path);
  if (await deps.refersToForeign(key.id, { kept: ids, items: [], files: ids }))
    throw notFoundAtVendor("file");
  const own = (await Promise.all(ids.map((id) => findFile(deps.database, key.id, id)))).find(Boolean);
  const provider = own ? providerNamed(deps, own.provider) : keeperOf(deps, keeper);
  if (body) await requireUnguarded(deps, it, provider);
  const answer = await deps.providerApi({
    // The routes accept no other method.
    method: request.method as "GET" | "POST" | "PATCH" | "DELETE",
    provider,
    wire: KEEPERS[keeper].wire,
    path: path + forwardedQuery(request.url),
    // Azure has OpenAI's addresses below a root of its own.
    ...(keeper !== "openai" && { own: uploadHeaders(request.headers) }),
    headers: request.headers,
    signal: request.signal,
    ...(body && { body: { bytes: (moved: () => void) => sent(body, moved) } }),
  });
  return await shown(deps, it, { answer, provider, own });
}

/** Of whole accounts. Other lists are parts of a thing that the key may read, such as the versions of a vendor's skill. */
const LISTS = /\/(?:files|skills|cachedContents)\/?$/;

type Answered = { answer: Response; provider: Provider; own: FileRow | null | undefined };

async function shown(deps: BatchDeps, it: ObjectRequest, { answer, provider, own }: Answered) {
  const { key, request } = it;
  if (!/^application\/json\b/i.test(answer.headers.get("content-type") ?? "")) {
    return own && request.method === "GET" ? relayedFile(answer) : forwarded(answer, it, answer.body);
  }
  const bytes = await answerInFull(answer);
  if (!answer.ok) return relayedAnswer(answer, bytes);
  if (request.method === "POST") await noteMade(deps, it, { provider, bytes });
  if (request.method === "DELETE" && own) await markDeleted(deps, own.id);
  if (request.method !== "GET" || own || !LISTS.test(it.path)) return forwarded(answer, it, bytes);
  // What the key made, and what the vendor offers to everyone.
  const isOwn = async (id: string, { source }: Json) =>
    source === "anthropic" || (await findFile(deps.database, key.id, id)) !== null;
  return forwarded(answer, it, await withItems(bytes, isOwn));
}

/** The vendor's own host first. */
export function keeperOf({ directory }: Pick<BatchDeps, "directory">, keeper: Keeper): Provider {
  const kinds: readonly ProviderKind[] = KEEPERS[keeper].kinds;
  const able = [...directory.current().providers.values()]
    .filter(({ kind, enabled }) => enabled && kinds.includes(kind))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const provider = able.find(VENDORS.isVendors) ?? able[0];
  if (provider) return provider;
  const sentence = `No provider of the kind ${kinds.join(" or ")} keeps it. Send the content in the call itself.`;
  throw new GatewayError("provider_unconfigured", sentence);
}

/** A model would read what no rule has read. */
async function requireUnguarded(deps: BatchDeps, it: ObjectRequest, provider: Provider): Promise<void> {
  const { guardrails } = deps.directory.current();
  const labels = readLabels(it.request.headers, scanJson(jsonBytes({})));
  const targets = [{ provider, model: null, wire: KEEPERS[it.keeper].wire }] as const;
  const choice = { route: null, routeName: "(direct)", targets };
  const unread = { passedThrough: true, additionalModels: () => [], texts: () => [] };
  const tools = { pace: pace(deps.clock), consult: deps.consult };
  const verdict = await evaluateGuardrails(guardrails, { key: it.key, labels, choice, ...unread }, tools);
  if (verdict.kind === "pass") return;
  deps.guardrailTriggered(verdict.rule, "block");
  throw new GatewayError("guardrail_blocked", verdict.message ?? undefined);
}

const sent = (body: RequestBody, moved: () => void): ReadableStream<Uint8Array> =>
  streamOf(
    () => {
      moved();
      return body.next();
    },
    () => body.cancel(),
  );

/** The type of the body as it is, and Google's headers of an upload. */
function uploadHeaders(headers: Headers): HeaderTable {
  const type = headers.get("content-type");
  const uploads = [...headers].filter(([name]) => name.startsWith("x-goog-upload-"));
  return { ...Object.fromEntries(uploads), ...(type !== null && { "content-type": type }) };
}

/** Google names the address for the bytes of a file: here, as the client's key is for the gateway. */
function forwarded(answer: Response, { origin }: ObjectRequest, body: BodyInit | null): Response {
  const uploads = [...answer.headers].filter(([name]) => name.startsWith("x-goog-upload-"));
  const headers: HeaderTable = { ...clientHeaders(answer.headers), ...Object.fromEntries(uploads) };
  const url = URL.parse(headers["x-goog-upload-url"] ?? "");
  if (url) headers["x-goog-upload-url"] = `${origin}${url.pathname}${url.search}`;
  return new Response(body, { status: answer.status, headers });
}

type Made = { provider: Provider; bytes: Uint8Array };

/** If its owner cannot be stored, it stays one that no key of the gateway made. */
export async function noteMade(
  deps: BatchDeps,
  it: Pick<ObjectRequest, "key" | "purpose">,
  { provider, bytes }: Made,
): Promise<void> {
  const answer = parseObject(bytes) ?? {};
  const object = objectOf(answer["file"]) ?? answer;
  const id = vendorIdOf(object);
  if (id === null) return;
  const createdAt = deps.clock.now().toISOString();
  const facts = fileFacts(object, { filename: null, createdAt });
  const row = { id, keyId: it.key.id, provider: provider.name, purpose: it.purpose, ...facts };
  await insertFiles(deps.database, [{ ...row, routes: [], models: [] }]);
}

const markDeleted = (deps: BatchDeps, id: string): Promise<unknown> =>
  markFileDeleted(deps.database, id, deps.clock.now().toISOString()).catch((error) =>
    deps.log.warn({ file: id, ...errorFields(error) }, "a deleted file is still listed"),
  );
