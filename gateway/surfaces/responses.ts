import { modelSurface, type SurfaceDeps } from "./model-surface.ts";

/** `POST /v1/responses`: OpenAI's responses format, plain and streaming. */
export const responses = (deps: SurfaceDeps) =>
  modelSurface(deps, "responses", {
    summary: "Response",
    description:
      "OpenAI's responses format. `model` is a route's name, `auto`, or a concrete model; every other member is forwarded as it came, or translated where the provider of the route speaks another format.",
    tags: ["Model surfaces"],
  });
