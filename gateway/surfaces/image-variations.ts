import { modelSurface, type SurfaceDeps } from "./model-surface.ts";

/** `POST /v1/images/variations`. Not routed; priced by the images returned. */
export const imageVariations = (deps: SurfaceDeps) =>
  modelSurface(deps, "images.variations", {
    summary: "Image variation",
    description:
      "OpenAI's image variations, as `multipart/form-data`. Not routed: `model` is a concrete model, and in a form of over 25 MiB of a scoped key it must come before the file. Priced per returned image.",
    tags: ["Model surfaces"],
  });
