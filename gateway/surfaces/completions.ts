import { modelSurface, type SurfaceDeps } from "./model-surface.ts";

/** `POST /v1/completions`: OpenAI's older completions, for providers that have them. */
export const completions = (deps: SurfaceDeps) =>
  modelSurface(deps, "completions", {
    summary: "Completion of a text",
    description:
      "OpenAI's older completions format, plain and streaming. Not routed: `model` is a concrete model of a provider that has this address.",
    tags: ["Model surfaces"],
  });
