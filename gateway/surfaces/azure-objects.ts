import { Elysia } from "elysia";
import type { BatchSurfaceDeps } from "./batch-surface.ts";
import { batchesSurface, filesSurface } from "./batches.ts";
import { type KeptResponsesDeps, keptResponses } from "./kept-responses.ts";
import { type ModelsDeps, modelsAt } from "./models.ts";

/**
 * What providers keep, and models, where Azure has them: below `/openai/v1`, and below `/openai` for clients that name a version of
 * the API. Calls of models have theirs beside their own.
 */
export const azureObjects = (deps: BatchSurfaceDeps & KeptResponsesDeps & ModelsDeps) =>
  new Elysia({ name: "surface.azure-objects", prefix: "/openai", detail: { hide: true } })
    .use(filesSurface(deps))
    .use(filesSurface(deps, ""))
    .use(batchesSurface(deps))
    .use(batchesSurface(deps, ""))
    .use(keptResponses(deps))
    .use(keptResponses(deps, ""))
    .use(modelsAt(deps, "/v1"))
    .use(modelsAt(deps, ""));
