import { modelSurface, type SurfaceDeps } from "./model-surface.ts";

/** `POST /v1/audio/transcriptions` (spec, endpoint table). Not routed; how long the sound is is never recorded. */
export const transcriptions = (deps: SurfaceDeps) =>
  modelSurface(deps, "audio.transcriptions", {
    summary: "Transcription",
    description:
      "OpenAI's transcriptions, plain and streaming, as `multipart/form-data`. Not routed: `model` is a concrete model, and in a form of over 25 MiB of a scoped key it must come before the file. Priced by tokens if the provider reports them; the audio's length is never recorded.",
    tags: ["Model surfaces"],
  });
