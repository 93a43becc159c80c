import { modelSurface, type SurfaceDeps } from "./model-surface.ts";

/** `POST /v1/images/edits`, as a form or in JSON. Not routed; priced by the images returned. */
export const imageEdits = (deps: SurfaceDeps) =>
  modelSurface(deps, "images.edits", {
    summary: "Image edit",
    description:
      "OpenAI's images format, as `multipart/form-data` or in JSON. Not routed: `model` is a concrete model, and in a form of over 25 MiB of a scoped key it must come before the file. Priced per returned image.",
    tags: ["Model surfaces"],
  });
