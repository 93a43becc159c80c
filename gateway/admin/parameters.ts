import type { TSchema } from "@sinclair/typebox";
import { isId } from "#shared/ids.ts";
import { faultsOf } from "#shared/schema.ts";
import { GatewayError, refuse } from "../errors.ts";

/**
 * Checks the name in the address of a PUT; a `name` in the body must equal it.
 * @throws GatewayError invalid_request if they differ or the name is invalid.
 */
export function requireSameName(inAddress: string, inBody: string | undefined, schema: TSchema): void {
  if (inBody !== undefined && inBody !== inAddress)
    refuse("/name: Expected the name in the address, or no name.");
  const [fault] = faultsOf(schema, inAddress);
  if (fault) refuse(`/name: ${fault.message}.`);
}

/** @throws GatewayError not_found for an invalid id. */
export function idParameter(text: string): string {
  if (!isId(text)) throw new GatewayError("not_found");
  return text;
}

/** @throws GatewayError invalid_request for a value that no page gave as `next`. */
export function idCursor(after: string): string {
  if (isId(after)) return after;
  refuse("after: Expected the `next` of the previous page.");
}
