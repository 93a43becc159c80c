import { GatewayError } from "../errors.ts";
import type { TranslationInput } from "./translate.ts";
import { jsonTool, lossesOf, readRequest, requestIn, writtenRequest } from "./translate.ts";

/** The facts that decide whether a call can be translated. */
export type Expressed = Pick<TranslationInput, "pair" | "model" | "dialect" | "onInexpressible">;

/**
 * Why the provider's format cannot express a call; null if it can. Pure: asked of each target before the first attempt,
 * so that a fallback is never one that could only refuse.
 */
export function whyInexpressible(bytes: Uint8Array, to: Expressed): GatewayError | null {
  try {
    const { prompt } = readRequest(requestIn(bytes), to.pair, lossesOf(to));
    jsonTool(prompt, to);
    writtenRequest(prompt, to);
    return null;
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}
