import { batchResults, cancelBatch, deleteBatch, listOwnBatches, readBatch } from "../batch/batches.ts";
import { createMessageBatch } from "../batch/message-batches.ts";
import { holding } from "../http/body-budget.ts";
import { readBody } from "../plugins/body.ts";
import {
  type BatchSurfaceDeps,
  batchQuestion,
  batchRoute,
  keyed,
  publicOrigin,
  queryOf,
} from "./batch-surface.ts";
import { jsonBody } from "./model-docs.ts";

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
      create(),
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
    .get("/v1/messages/batches/:id", (it) => readBatch(deps, batchQuestion(deps, "messages", it)), read())
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

const create = () =>
  batchRoute(
    "Create a message batch",
    "Anthropic's message batches. Every request's model is checked against the key's scope; routes' names become their models.",
    jsonBody({ requests: [{ custom_id: "1", params: { model: "…", max_tokens: 256, messages: [] } }] }),
  );
const read = () =>
  batchRoute(
    "Read a message batch",
    "The first read after the batch ends records its cost, at interactive rates, in the field `gateway`.",
  );
