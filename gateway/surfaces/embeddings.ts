import { modelSurface, type SurfaceDeps } from "./model-surface.ts";

/** `POST /v1/embeddings`: OpenAI's embeddings format. */
export const embeddings = (deps: SurfaceDeps) =>
  modelSurface(deps, "embeddings", {
    summary: "Embeddings",
    description:
      "OpenAI's embeddings format. `model` is the name of a route for embeddings or a concrete model; every other field is forwarded unchanged.",
    tags: ["Model surfaces"],
  });
