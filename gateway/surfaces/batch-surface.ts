import type { BatchQuestion } from "../batch/batches.ts";
import type { BatchDeps } from "../batch/deps.ts";
import type { BodyBudget } from "../http/body-budget.ts";
import type { Caller, CallerCheck } from "../plugins/client-key.ts";
import { documented, type formBody, type jsonBody, NO_CLIENT_KEY, NO_DATABASE } from "./documented.ts";

export type BatchSurfaceDeps = BatchDeps & { callers: CallerCheck; bodyBudget: BodyBudget };

type Content = ReturnType<typeof jsonBody> | ReturnType<typeof formBody>;

const ANSWERS = {
  200: "Done; in the vendor's format.",
  400: "The body or a parameter is wrong; the message says where.",
  ...NO_CLIENT_KEY,
  402: "The key's budget is used up.",
  404: "The key has no such file or batch.",
  502: "The provider could not be reached.",
  ...NO_DATABASE,
};

/** Common to file and batch routes: key, unread body, documentation. Each app needs its own: Elysia writes into it. */
export const batchRoute = (summary: string, description = "", body?: Content) => {
  const told = { tag: "Files and batches", description, ...(body && { body }), answers: ANSWERS };
  return { clientKey: true, parse: "none", detail: documented(summary, told) } as const;
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
