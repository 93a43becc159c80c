import { Elysia } from "elysia";
import type { BatchSurfaceDeps } from "./batch-surface.ts";
import { batchesSurface, filesSurface } from "./batches.ts";
import { type KeptResponsesDeps, keptResponses } from "./kept-responses.ts";
import { type ModelsDeps, models } from "./models.ts";

/**
 * Azure's v1 API: what providers keep, and models, below `/openai/v1`, and the former below `/openai` for clients that name a version
 * of the API. Calls of models have theirs beside their own.
 */
export const azureObjects = (deps: BatchSurfaceDeps & KeptResponsesDeps & ModelsDeps) =>
  new Elysia({ name: "surface.azure-objects", prefix: "/openai", detail: { hide: true } })
    .use(filesSurface(deps))
    .use(filesSurface(deps, ""))
    .use(batchesSurface(deps))
    .use(batchesSurface(deps, ""))
    .use(keptResponses(deps))
    .use(keptResponses(deps, ""))
    .use(models(deps));
