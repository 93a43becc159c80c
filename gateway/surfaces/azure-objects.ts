import { Elysia } from "elysia";
import type { BatchSurfaceDeps } from "./batch-surface.ts";
import { batchesSurface, filesSurface } from "./batches.ts";
import { type KeptResponsesDeps, keptResponses } from "./kept-responses.ts";
import { type ModelsDeps, modelsAt } from "./models.ts";

/** What providers keep, and models, below `/openai/v1` and, for clients that send a version, `/openai`. */
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
