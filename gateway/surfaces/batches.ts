import { batchResults, cancelBatch, deleteBatch, listOwnBatches, readBatch } from "../batch/batches.ts";
import { deleteFile, fileContent, listOwnFiles, readFile } from "../batch/files.ts";
import { createLineBatch } from "../batch/line-batches.ts";
import { createMessageBatch } from "../batch/message-batches.ts";
import { askForObject } from "../batch/prompt-objects.ts";
import { uploadFile } from "../batch/upload-file.ts";
import { holding } from "../http/body-budget.ts";
import { readBody } from "../plugins/body.ts";
import { type Caller, keyed } from "../plugins/client-key.ts";
import { type BatchSurfaceDeps, batchQuestion, batchRoute, publicOrigin, queryOf } from "./batch-surface.ts";
import { formBody, jsonBody } from "./documented.ts";
import { objectRequest } from "./prompt-objects.ts";

const BODY_BYTES_MAX = 1024 * 1024;
const FIRST_READ =
  "The first read after the batch ends records its cost, at interactive rates, in the field `gateway`.";

/** `/v1/files`: files of prompts, of batch requests and of their results. A key sees only its own. */
export const filesSurface = (deps: BatchSurfaceDeps, root = "/v1") =>
  keyed(deps, `files${root}`)
    .post(
      `${root}/files`,
      (it) =>
        (it.request.headers.has("anthropic-version") ? null : ofOthers(deps, it)) ??
        holding(deps.bodyBudget, (hold) => {
          const origin = publicOrigin(deps, it.request);
          return uploadFile(deps, { key: it.caller.key, request: it.request, hold, origin });
        }),
      batchRoute(
        "Upload a file",
        "`multipart/form-data` with a `file` for prompts (`purpose` `user_data`, `vision` or `assistants`), passed on unread; or with `purpose` `batch` and one JSON request per line. Every line is checked against the key's scope; names of routes become their models. With `anthropic-version` it is Anthropic's, without a `purpose`.",
        formBody({ purpose: "`batch`, `user_data`, `vision` or `assistants`.", file: null }),
      ),
    )
    .get(
      `${root}/files`,
      (it) => ofOthers(deps, it) ?? listOwnFiles(deps, it.caller.key.id, queryOf(it.request)),
      batchRoute(
        "List files",
        "The calling key's own, newest first. Accepts `limit`, `after`, `order` and `purpose`.",
      ),
    )
    .get(
      `${root}/files/:id`,
      (it) => ofOthers(deps, it) ?? readFile(deps, question(it)),
      batchRoute("Read about a file"),
    )
    .get(
      `${root}/files/:id/content`,
      (it) => ofOthers(deps, it) ?? fileContent(deps, question(it)),
      batchRoute("Read a file"),
    )
    .delete(
      `${root}/files/:id`,
      (it) => ofOthers(deps, it) ?? deleteFile(deps, question(it)),
      batchRoute("Delete a file"),
    );

type Asked = { request: Request; caller: Caller; params?: Record<string, string> };

/** Anthropic's and Google's files have the same address; null: it is OpenAI's client. */
function ofOthers(deps: BatchSurfaceDeps, { request, caller }: Asked): Promise<Response> | null {
  const { headers } = request;
  const keeper = headers.has("anthropic-version") ? "anthropic" : "google";
  if (keeper === "google" && !headers.has("x-goog-api-key")) return null;
  return askForObject(deps, objectRequest(deps, { request, key: caller.key, keeper }));
}

const question = ({ request: { headers, signal }, caller, params }: Asked) => ({
  headers,
  signal,
  keyId: caller.key.id,
  id: params?.["id"] ?? "",
});

/** `/v1/batches` (spec, endpoint table): a batch of the requests in a file that the same key uploaded. */
export const batchesSurface = (deps: BatchSurfaceDeps, root = "/v1") =>
  keyed(deps, `batches${root}`)
    .post(
      `${root}/batches`,
      async ({ request, caller }) =>
        createLineBatch(deps, {
          key: caller.key,
          headers: request.headers,
          bytes: await readBody(deps, request, { bytesMax: BODY_BYTES_MAX }),
          origin: publicOrigin(deps, request),
        }),
      batchRoute(
        "Create a batch",
        "`input_file_id` is a file of the same key and `endpoint` the `url` of its lines. `completion_window` is in hours or minutes, such as `24h`, and at most 24 hours.",
        jsonBody({ input_file_id: "file-…", endpoint: "/v1/chat/completions", completion_window: "24h" }),
      ),
    )
    .get(
      `${root}/batches`,
      ({ request, caller }) =>
        listOwnBatches(deps, {
          keyId: caller.key.id,
          kind: "lines",
          origin: publicOrigin(deps, request),
          query: queryOf(request),
        }),
      batchRoute("List batches", "The calling key's own, newest first; `limit`, `after`."),
    )
    .get(
      `${root}/batches/:id`,
      (it) => readBatch(deps, batchQuestion(deps, "lines", it)),
      batchRoute("Read a batch", FIRST_READ),
    )
    .post(
      `${root}/batches/:id/cancel`,
      (it) => cancelBatch(deps, batchQuestion(deps, "lines", it)),
      batchRoute("Cancel a batch"),
    );

/** `/v1/messages/batches`: Anthropic's batches, whose requests are in the body. */
export const messageBatches = (deps: BatchSurfaceDeps) =>
  keyed(deps, "message-batches")
    .post(
      "/v1/messages/batches",
      ({ request, caller }) =>
        holding(deps.bodyBudget, async (hold) =>
          createMessageBatch(deps, {
            key: caller.key,
            headers: request.headers,
            bytes: await readBody(deps, request, { bytesMax: deps.bytesMax.json, hold }),
            origin: publicOrigin(deps, request),
          }),
        ),
      batchRoute(
        "Create a message batch",
        "Anthropic's message batches. Every request's model is checked against the key's scope; routes' names become their models.",
        jsonBody({ requests: [{ custom_id: "1", params: { model: "…", max_tokens: 256, messages: [] } }] }),
      ),
    )
    .get(
      "/v1/messages/batches",
      ({ request, caller }) =>
        listOwnBatches(deps, {
          keyId: caller.key.id,
          kind: "messages",
          origin: publicOrigin(deps, request),
          query: queryOf(request),
        }),
      batchRoute(
        "List message batches",
        "The calling key's own, newest first. Accepts `limit`, `after_id` and `before_id`.",
      ),
    )
    .get(
      "/v1/messages/batches/:id",
      (it) => readBatch(deps, batchQuestion(deps, "messages", it)),
      batchRoute("Read a message batch", FIRST_READ),
    )
    .get(
      "/v1/messages/batches/:id/results",
      (it) => batchResults(deps, batchQuestion(deps, "messages", it)),
      batchRoute("Read the results of a message batch"),
    )
    .post(
      "/v1/messages/batches/:id/cancel",
      (it) => cancelBatch(deps, batchQuestion(deps, "messages", it)),
      batchRoute("Cancel a message batch"),
    )
    .delete(
      "/v1/messages/batches/:id",
      (it) => deleteBatch(deps, batchQuestion(deps, "messages", it)),
      batchRoute("Delete a message batch"),
    );
