import { modelSurface, type SurfaceDeps } from "./model-surface.ts";

/** `POST /v1/responses`: OpenAI's responses format, plain and streaming. */
export const responses = (deps: SurfaceDeps) =>
  modelSurface(deps, "responses", {
    summary: "Response",
    description:
      "OpenAI's responses format. `model` is a route's name, `auto`, or a concrete model; every other field is forwarded unchanged, or translated if the route's provider uses another format.",
    tags: ["Model surfaces"],
  });
