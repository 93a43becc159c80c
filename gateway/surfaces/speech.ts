import { modelSurface, type SurfaceDeps } from "./model-surface.ts";

/**
 * `POST /v1/audio/speech` (spec, endpoint table): `auto` is the route `tts`; the answer's audio is passed on untouched.
 */
export const speech = (deps: SurfaceDeps) =>
  modelSurface(deps, "audio.speech", {
    summary: "Speech",
    description:
      'OpenAI\'s speech format. `auto`, or no `model`, is the route `tts`. Priced by the characters of `input`; the answer is raw audio, or events with `stream_format: "sse"`.',
    tags: ["Model surfaces"],
  });
