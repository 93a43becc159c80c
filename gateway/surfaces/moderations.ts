import { modelSurface, type SurfaceDeps } from "./model-surface.ts";

/** `POST /v1/moderations`: OpenAI's moderations format. Not routed; recorded at no cost. */
export const moderations = (deps: SurfaceDeps) =>
  modelSurface(deps, "moderations", {
    summary: "Moderation",
    description:
      "OpenAI's moderations format. Not routed: `model` is a concrete model; without one, the only provider that could answer is used. Costs nothing.",
    tags: ["Model surfaces"],
  });
