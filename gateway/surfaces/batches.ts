import { cancelBatch, listOwnBatches, readBatch } from "../batch/batches.ts";
import { createLineBatch } from "../batch/line-batches.ts";
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

const BODY_BYTES_MAX = 1024 * 1024;

/** `/v1/batches` (spec, endpoint table): a batch of the requests in a file that the same key uploaded. */
export const batchesSurface = (deps: BatchSurfaceDeps) =>
  keyed(deps, "batches")
    .post(
      "/v1/batches",
      async ({ request, caller }) =>
        createLineBatch(deps, {
          key: caller.key,
          headers: request.headers,
          bytes: await readBody(deps, request, { bytesMax: BODY_BYTES_MAX }),
          origin: publicOrigin(deps, request),
        }),
      create(),
    )
    .get(
      "/v1/batches",
      ({ request, caller }) =>
        listOwnBatches(deps, {
          keyId: caller.key.id,
          kind: "lines",
          origin: publicOrigin(deps, request),
          query: queryOf(request),
        }),
      batchRoute("List batches", "The calling key's own, newest first; `limit`, `after`."),
    )
    .get("/v1/batches/:id", (it) => readBatch(deps, batchQuestion(deps, "lines", it)), read())
    .post(
      "/v1/batches/:id/cancel",
      (it) => cancelBatch(deps, batchQuestion(deps, "lines", it)),
      batchRoute("Cancel a batch"),
    );

const create = () =>
  batchRoute(
    "Create a batch",
    "`input_file_id` is a file of the same key and `endpoint` the `url` of its lines. `completion_window` is in hours or minutes, such as `24h`, and at most 24 hours.",
    jsonBody({ input_file_id: "file-…", endpoint: "/v1/chat/completions", completion_window: "24h" }),
  );
const read = () =>
  batchRoute(
    "Read a batch",
    "The first read after the batch ends records its cost, at interactive rates, in the field `gateway`.",
  );
