import type { DocumentDecoration } from "elysia";
import type { BatchQuestion } from "../batch/batches.ts";
import type { BatchDeps } from "../batch/deps.ts";
import type { BodyBudget } from "../http/body-budget.ts";
import type { Caller, CallerCheck } from "../plugins/client-key.ts";
import type { formBody, jsonBody } from "./model-docs.ts";

export type BatchSurfaceDeps = BatchDeps & { callers: CallerCheck; bodyBudget: BodyBudget };

type Content = ReturnType<typeof jsonBody> | ReturnType<typeof formBody>;

const RESPONSES = {
  "200": { description: "Done; in the vendor's format." },
  "400": { description: "The body or a parameter is wrong; the message says where." },
  "401": { description: "No valid client key." },
  "402": { description: "The key's budget is used up." },
  "404": { description: "The key has no such file or batch." },
  "502": { description: "The provider could not be reached." },
  "503": { description: "The database is unavailable at the moment." },
};

/**
 * Common to all routes of files and batches: the key, a body that the framework does not read, and documentation. Each app
 * needs its own, because Elysia writes the key check into it.
 */
export const batchRoute = (summary: string, description?: string, content?: Content) => {
  const detail: DocumentDecoration = {
    summary,
    ...(description && { description }),
    tags: ["Files and batches"],
    security: [{ clientKey: [] }],
    ...(content && { requestBody: { required: true, content } }),
    responses: { ...RESPONSES },
  };
  return { clientKey: true, parse: "none", detail } as const;
};

/** Where clients reach the gateway: as it is set, else as this one did. */
export function publicOrigin({ publicUrl }: Pick<BatchDeps, "publicUrl">, request: Request): string {
  return publicUrl ?? URL.parse(request.url)?.origin ?? "";
}

type Asked = { request: Request; caller: Caller; params: { id: string } };

export const batchQuestion = (
  deps: Pick<BatchDeps, "publicUrl">,
  kind: BatchQuestion["kind"],
  { request, caller, params }: Asked,
): BatchQuestion => ({
  kind,
  keyId: caller.key.id,
  id: params.id,
  headers: request.headers,
  signal: request.signal,
  origin: publicOrigin(deps, request),
});

/** Without the version of Azure's API, which has no effect. */
export function queryOf(request: Request): URLSearchParams {
  const query = URL.parse(request.url, "http://gateway.invalid")?.searchParams ?? new URLSearchParams();
  query.delete("api-version");
  return query;
}
