import { type DocumentDecoration, Elysia } from "elysia";
import type { BatchQuestion } from "../batch/batches.ts";
import type { BatchDeps } from "../batch/deps.ts";
import { type Caller, clientKey, type KeyLookup } from "../plugins/client-key.ts";

export type BatchSurfaceDeps = Omit<BatchDeps, "directory"> & {
  directory: BatchDeps["directory"] & KeyLookup;
};

/** A piece of the app whose routes may ask for a client key. */
export const keyed = (deps: BatchSurfaceDeps, name: string) =>
  new Elysia({ name: `surface.${name}` }).use(clientKey(deps.directory));

/** What every route of files and batches has: the key, a body that nobody else reads, and its page in the documentation. */
export const documented = (summary: string, description?: string) => {
  const detail: DocumentDecoration = {
    summary,
    ...(description && { description }),
    tags: ["Files and batches"],
    security: [{ clientKey: [] }],
  };
  return { clientKey: true, parse: "none", detail } as const;
};

/** Where clients reach the gateway: as it is set, else as this one did. */
export function originOf({ publicUrl }: Pick<BatchDeps, "publicUrl">, request: Request): string {
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
  origin: originOf(deps, request),
});

export const queryOf = (request: Request): URLSearchParams =>
  URL.parse(request.url, "http://gateway.invalid")?.searchParams ?? new URLSearchParams();
