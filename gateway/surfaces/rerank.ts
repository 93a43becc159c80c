import { Elysia } from "elysia";
import { modelSurface, type SurfaceDeps } from "./model-surface.ts";

/** `POST /v1/rerank` (spec, endpoint table), `/rerank` and `/v2/rerank`: the addresses that rerankers' clients call. */
export const rerank = (deps: SurfaceDeps) =>
  new Elysia({ name: "surface.rerankers" })
    .use(modelSurface(deps, "rerank", detail("Ranking of documents")))
    .use(modelSurface(deps, "rerank.v2", detail("Rerank documents, as in Cohere's second version")));

const detail = (summary: string) => ({
  summary,
  description:
    "`auto`, or no `model`, uses the route `rerank`. `documents` are counted. A call is priced per call, search unit or token, as the provider bills.",
  tags: ["Model surfaces"],
});
