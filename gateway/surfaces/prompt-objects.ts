import { Elysia } from "elysia";
import { answerInFull, relayedAnswer } from "../batch/answers.ts";
import type { Keeper, ObjectRequest } from "../batch/prompt-objects.ts";
import { askForObject, keeperOf, noteMade } from "../batch/prompt-objects.ts";
import type { ClientKey } from "../directory.ts";
import { type Caller, keyed } from "../plugins/client-key.ts";
import { openRequestBody } from "../upstream/request-body.ts";
import { type BatchSurfaceDeps, publicOrigin } from "./batch-surface.ts";
import { refuseKeyInUrl } from "./gemini.ts";
import { type SurfaceDeps, serve } from "./model-surface.ts";

/** Google's clients differ in the version that they call; below `/v1`, files are OpenAI's and Anthropic's, too (batches.ts). */
const CACHES = ["/v1beta/cachedContents", "/v1/cachedContents", "/v1alpha/cachedContents"];
const FILES = [
  "/v1beta/files",
  "/v1alpha/files",
  "/upload/v1beta/files",
  "/upload/v1/files",
  "/upload/v1alpha/files",
];
const ROOTS: readonly (readonly [root: string, keeper: Keeper])[] = [
  ["/v1/skills", "anthropic"],
  ...[...FILES, ...CACHES].map((root) => [root, "google"] as const),
];

const METHODS = ["GET", "POST", "PATCH", "DELETE"];

/** Skills, and files and cached prompts of Google's: of the calling key only. A cached prompt is billed, so it is a call. */
export function promptObjects(deps: BatchSurfaceDeps & SurfaceDeps) {
  const all = new Elysia({ name: "surface.prompt-objects" });
  for (const [root, keeper] of ROOTS) {
    const answer = ({ request, caller }: { request: Request; caller: Caller }) => {
      if (keeper === "google") refuseKeyInUrl(request);
      if (CACHES.includes(root) && request.method === "POST") return cache(deps, root, { request, caller });
      return askForObject(deps, objectRequest(deps, { request, key: caller.key, keeper }));
    };
    const options = { clientKey: true, parse: "none", detail: { hide: true } } as const;
    const app = keyed(deps, root);
    // Each by its name: the console's own address takes every other `GET`.
    for (const method of METHODS) {
      app.route(method, root, answer, options).route(method, `${root}/*`, answer, options);
    }
    all.use(app);
  }
  return all;
}

type Asked = { request: Request; key: ClientKey; keeper: Keeper };

export function objectRequest(deps: BatchSurfaceDeps, { request, key, keeper }: Asked): ObjectRequest {
  const path = pathOf(request);
  const body = request.body === null ? null : openRequestBody(request, deps.bytesMax.multipart, deps);
  return { key, request, keeper, path, body, purpose: keeper, origin: publicOrigin(deps, request) };
}

/** As vendors have it: Azure's clients have a prefix, and no `/v1` where they name a version of the API. */
const pathOf = ({ url }: Request): string => new URL(url).pathname.replace(/^\/openai(?:\/v1)?(?=\/)/, "/v1");

async function cache(
  deps: BatchSurfaceDeps & SurfaceDeps,
  path: string,
  { request, caller }: { request: Request; caller: Caller },
): Promise<Response> {
  const provider = keeperOf(deps, "google");
  const vendor = { method: "POST", provider, path, wire: "vendor", ids: [], empty: false } as const;
  const answer = await serve(deps, { surface: "pass_through", caller, request, vendor });
  if (!answer.ok) return answer;
  const bytes = await answerInFull(answer);
  await noteMade(deps, { key: caller.key, purpose: "google" }, { provider, bytes });
  return relayedAnswer(answer, bytes);
}
