import { modelSurface, type SurfaceDeps } from "./model-surface.ts";

/** `POST /v1/audio/translations`. Not routed; the rules are those of transcriptions. */
export const translations = (deps: SurfaceDeps) =>
  modelSurface(deps, "audio.translations", {
    summary: "Translation of speech",
    description:
      "OpenAI's translations of speech into English, as `multipart/form-data`. The rules of transcriptions apply.",
    tags: ["Model surfaces"],
  });
