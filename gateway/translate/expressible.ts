import { GatewayError } from "../errors.ts";
import { readRequest, type TranslationInput, writtenRequest } from "./translate.ts";

/** What decides whether a call can be translated. */
export type Expressed = Pick<TranslationInput, "pair" | "model" | "dialect">;

/**
 * Why the provider's format cannot express a call; null if it can. Pure: asked of each target before the first attempt,
 * so that a fallback is never one that could only refuse.
 */
export function whyInexpressible(
  bytes: Uint8Array,
  { pair, model, dialect }: Expressed,
): GatewayError | null {
  try {
    writtenRequest(readRequest(bytes, pair).prompt, { pair, model, dialect });
    return null;
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}
