import { modelSurface, type SurfaceDeps } from "./model-surface.ts";

/** `POST /v1/messages`: Anthropic's messages format, served natively, plain and streaming. */
export const messages = (deps: SurfaceDeps) =>
  modelSurface(deps, "messages", {
    summary: "Message",
    description:
      "Anthropic's messages format. `model` is a route's name, `auto`, or a concrete model; every other field is forwarded unchanged, or translated if the route's provider uses another format.",
    tags: ["Model surfaces"],
  });
