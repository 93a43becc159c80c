import { modelSurface, type SurfaceDeps } from "./model-surface.ts";

/** `POST /v1/images/edits` in its JSON form. Not routed; priced by the images returned. */
export const imageEdits = (deps: SurfaceDeps) =>
  modelSurface(deps, "images.edits", {
    summary: "Image edit",
    description:
      "OpenAI's images format in JSON. Not routed: `model` is a concrete model. Priced by the images returned.",
    tags: ["Model surfaces"],
  });
