import { errorFields } from "#shared/log.ts";
import type { ClientKey, Provider } from "../directory.ts";
import { GatewayError, refuse } from "../errors.ts";
import type { BodyHold } from "../http/body-budget.ts";
import { boundaryOf, requireUtf8 } from "../http/content-type.ts";
import { formatPico } from "../limits/money.ts";
import { insertFiles } from "../stores/batches.ts";
import type { StreamedBody } from "../upstream/provider-api.ts";
import { openRequestBody, streamOf } from "../upstream/request-body.ts";
import { answerInFull, relayedAnswer } from "./answers.ts";
import type { BatchDeps } from "./deps.ts";
import { fileForm, PURPOSE_FAULT, purposeOf } from "./file-form.ts";
import { askForObject } from "./prompt-objects.ts";
import { fileFacts, objectWithId } from "./read-answer.ts";
import { requestLines } from "./request-lines.ts";
import { batchResolver } from "./resolve.ts";

/** Forms up to this size are sent in one piece, with a content-length. */
const PIECE_BYTES_MAX = 1024 * 1024;

/** Purposes of files that calls name; no vendor bills them. */
const PROMPT_PURPOSES: ReadonlySet<string> = new Set(["user_data", "vision", "assistants"]);

/** SDKs send the `purpose` behind the file. Anthropic's files have none. */
const HELD_MAX = 25 * 1024 * 1024;
const ANTHROPIC_HELD_MAX = 64 * 1024;

type Uploaded = { key: ClientKey; request: Request; hold: BodyHold; origin: string };

/** `POST /v1/files`: forwards a prompt's file, or streams checked requests; a refused line aborts the upload. */
export async function uploadFile(
  deps: BatchDeps,
  { key, request, hold, origin }: Uploaded,
): Promise<Response> {
  requireUtf8(request.headers);
  const boundary = boundaryOf(request.headers.get("content-type"));
  if (boundary === null) {
    throw new GatewayError("unsupported_media_type", "This surface accepts multipart/form-data.");
  }
  const arrival = openRequestBody(request, deps.bytesMax.multipart, deps);
  const isAnthropics = request.headers.has("anthropic-version");
  const bytesMax = isAnthropics ? ANTHROPIC_HELD_MAX : HELD_MAX;
  const { purpose, isMissing, form: received } = await purposeOf(arrival, boundary, { hold, bytesMax });
  if (isAnthropics && purpose === null) {
    const anthropics = { keeper: "anthropic", path: "/v1/files", purpose: "anthropic" } as const;
    return await askForObject(deps, { key, request, origin, body: received, ...anthropics });
  }
  if (purpose !== null && PROMPT_PURPOSES.has(purpose)) {
    const openais = { keeper: "openai", path: "/files", purpose } as const;
    return await askForObject(deps, { key, request, origin, body: received, ...openais });
  }
  if (isMissing || (purpose !== null && purpose !== "batch")) refuse(PURPOSE_FAULT);
  const resolver = batchResolver(deps, key, request.headers);
  const lines = requestLines(resolver, deps.bytesMax.json);
  const form = fileForm(received, boundary, {
    ...resolver,
    lines,
  });
  const known = () => resolver.summary.provider !== null;
  const body = await readHead(form.bytes(), known, deps.bytesMax.json);
  const { provider } = resolver.summary;
  if (!provider) refuse("The file contains no requests.");
  const answer = await sendForm(deps, { provider, headers: request.headers, body });
  const bytes = await answerInFull(answer);
  if (!answer.ok) return relayedAnswer(answer, bytes);
  const { object, id } = objectWithId(bytes);
  const { routes, models, direct, bound, unpriced } = resolver.summary;
  const file = {
    id,
    keyId: key.id,
    provider: provider.name,
    purpose: "batch",
    ...fileFacts(object, { filename: form.filename, createdAt: deps.clock.now().toISOString() }),
    endpoint: lines.endpoint,
    routes: [...routes],
    models: [...models],
    direct,
    boundUsd: bound === null ? null : formatPico(bound),
    unpriced,
  };
  await saveFile(deps, provider, file);
  return relayedAnswer(answer, bytes);
}

type Body = { head: Uint8Array[]; rest: AsyncGenerator<Uint8Array> | null };

/** Reads until the provider is `known` and a piece is full; `rest` null: it ended. @throws GatewayError too_large */
async function readHead(
  bytes: AsyncGenerator<Uint8Array>,
  known: () => boolean,
  bytesMax: number,
): Promise<Body> {
  const head: Uint8Array[] = [];
  let size = 0;
  while (!known() || size < PIECE_BYTES_MAX) {
    const { value, done } = await bytes.next();
    if (done) return { head, rest: null };
    head.push(value);
    size += value.byteLength;
    if (size > bytesMax && !known()) throw new GatewayError("too_large");
  }
  return { head, rest: bytes };
}

type Sending = { provider: Provider; headers: Headers; body: Body };

async function sendForm(deps: BatchDeps, { provider, headers, body }: Sending): Promise<Response> {
  const { head, rest } = body;
  const request = { method: "POST", provider, wire: "chat", path: "/files", headers } as const;
  if (!rest) return deps.providerApi({ ...request, body: Buffer.concat(head) });
  const broken = new AbortController();
  let fault: unknown = null;
  const streamed: StreamedBody = {
    bytes: (moved) =>
      streamOf(async () => {
        moved();
        try {
          return head.shift() ?? (await rest.next()).value ?? null;
        } catch (error) {
          fault = error;
          broken.abort();
          throw error;
        }
      }),
  };
  try {
    return await deps.providerApi({ ...request, body: streamed, signal: broken.signal });
  } catch (error) {
    throw fault ?? error;
  }
}

/** If the file cannot be stored, it is deleted at the provider: without an owner it is unusable. */
async function saveFile(
  deps: BatchDeps,
  provider: Provider,
  file: Parameters<typeof insertFiles>[1][number],
): Promise<void> {
  try {
    await insertFiles(deps.database, [file]);
  } catch (error) {
    deps.log.error({ file: file.id, ...errorFields(error) }, "a file could not be stored and is deleted");
    await deps
      .providerApi({ method: "DELETE", provider, wire: "chat", path: `/files/${file.id}` })
      .then((answer) => answer.body?.cancel())
      .catch(() => undefined);
    throw error;
  }
}
