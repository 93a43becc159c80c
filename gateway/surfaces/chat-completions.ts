import { modelSurface, type SurfaceDeps } from "./model-surface.ts";

/** `POST /v1/chat/completions` (spec, endpoint table): OpenAI's chat format, plain and streaming. */
export const chatCompletions = (deps: SurfaceDeps) =>
  modelSurface(deps, "chat.completions", {
    summary: "Chat completion",
    description:
      "OpenAI's chat completions format. `model` is a route's name, `auto`, or a concrete model; every other field is forwarded unchanged, or translated if the route's provider uses another format.",
    tags: ["Model surfaces"],
  });
