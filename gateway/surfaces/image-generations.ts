import { modelSurface, type SurfaceDeps } from "./model-surface.ts";

/** `POST /v1/images/generations` (spec, endpoint table): `auto` is the route `image_generation`; priced by the images returned. */
export const imageGenerations = (deps: SurfaceDeps) =>
  modelSurface(deps, "images.generations", {
    summary: "Image generation",
    description:
      "OpenAI's images format, plain and streaming. `auto`, or no `model`, uses the route `image_generation`. Priced per returned image.",
    tags: ["Model surfaces"],
  });
