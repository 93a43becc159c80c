import { modelSurface, type SurfaceDeps } from "./model-surface.ts";

/** `POST /v1/messages/count_tokens`: forwarded to the route's provider or estimated, and not recorded. */
export const countTokens = (deps: SurfaceDeps) =>
  modelSurface(deps, "messages.count_tokens", {
    summary: "Token count of a message",
    description:
      "Anthropic's token count. Forwarded to the provider of the route if it counts tokens, else estimated. Not recorded.",
    tags: ["Model surfaces"],
  });
