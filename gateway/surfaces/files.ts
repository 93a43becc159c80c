import { deleteFile, fileContent, listOwnFiles, readFile } from "../batch/files.ts";
import { uploadFile } from "../batch/upload-file.ts";
import { type BatchSurfaceDeps, batchRoute, keyed, queryOf } from "./batch-surface.ts";
import { formBody } from "./model-docs.ts";

/** `/v1/files`: files of batch requests and of their results. A key sees only its own. */
export const filesSurface = (deps: BatchSurfaceDeps) =>
  keyed(deps, "files")
    .post("/v1/files", ({ request, caller }) => uploadFile(deps, { key: caller.key, request }), upload())
    .get("/v1/files", ({ request, caller }) => listOwnFiles(deps, caller.key.id, queryOf(request)), list())
    .get(
      "/v1/files/:id",
      ({ request, caller, params }) => readFile(deps, { ...question(request, caller.key.id), id: params.id }),
      batchRoute("Read about a file"),
    )
    .get(
      "/v1/files/:id/content",
      ({ request, caller, params }) =>
        fileContent(deps, { ...question(request, caller.key.id), id: params.id }),
      batchRoute("Read a file"),
    )
    .delete(
      "/v1/files/:id",
      ({ request, caller, params }) =>
        deleteFile(deps, { ...question(request, caller.key.id), id: params.id }),
      batchRoute("Delete a file"),
    );

const upload = () =>
  batchRoute(
    "Upload a file of requests",
    "`multipart/form-data` with `purpose` `batch` and a `file` with one JSON request per line. Every line is checked against the key's scope; names of routes become their models.",
    formBody({ purpose: "`batch`.", file: null }),
  );
const list = () =>
  batchRoute(
    "List files",
    "The calling key's own, newest first. Accepts `limit`, `after`, `order` and `purpose`.",
  );

const question = ({ headers, signal }: Request, keyId: string) => ({ headers, signal, keyId });
