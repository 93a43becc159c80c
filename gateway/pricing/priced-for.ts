import type { SurfaceName } from "../surface-facts.ts";
import type { PriceEntry, PriceUnit } from "./rate.ts";

/** Whatever a surface bills, a price per call prices it. */
const TEXT: readonly PriceUnit[] = ["input", "output", "call"];
const IMAGES: readonly PriceUnit[] = ["image", "image_output", "output", "call"];

/** The units of which one must have a price, where these are not those of text. */
const UNITS: Partial<Record<SurfaceName, readonly PriceUnit[]>> = {
  "images.generations": IMAGES,
  "images.edits": IMAGES,
  "images.variations": IMAGES,
  "audio.transcriptions": ["audio_input", ...TEXT],
  "audio.translations": ["audio_input", ...TEXT],
  "audio.speech": ["character", "audio_output", ...TEXT],
  realtime: ["audio_input", "audio_output", ...TEXT],
  rerank: ["search_unit", ...TEXT],
  "rerank.v2": ["search_unit", ...TEXT],
};

/** Whether a price says anything of what a surface bills. */
export function isPricedFor(surface: SurfaceName, price: PriceEntry | null): boolean {
  if (price === null) return false;
  if (surface === "audio.speech" && price.characterEstimate) return true;
  if (price.audioHour && (surface.startsWith("audio.trans") || surface === "realtime")) return true;
  return (UNITS[surface] ?? TEXT).some((unit) => price.rates[unit] !== undefined);
}
