import type { Static, TSchema } from "@sinclair/typebox";
import { type Fault, faultsOf } from "#shared/schema.ts";
import { GatewayError } from "../errors.ts";
import { readBody } from "../surfaces/body.ts";

const BODY_BYTES_MAX = 1024 * 1024;

/**
 * The body as the schema says; an absent one counts as `{}`.
 * @throws GatewayError too_large; invalid_request naming every member that is unknown, missing or wrong, and no value.
 */
export async function readJson<T extends TSchema>(request: Request, schema: T): Promise<Static<T>> {
  const value = parse(await readBody(request, BODY_BYTES_MAX));
  const faults = faultsOf(schema, value);
  if (faults.length > 0) throw new GatewayError("invalid_request", faults.map(sentence).join(" "));
  return value as Static<T>;
}

function parse(bytes: Uint8Array): unknown {
  if (bytes.byteLength === 0) return {};
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new GatewayError("invalid_request", "The body is not JSON.");
  }
}

/** Names are the sender's own; one that is as long as a text is not repeated. */
const sentence = ({ path, message }: Fault): string =>
  `${path === "" ? "body" : path.length <= 200 ? path : "a field with a very long name"}: ${message}.`;
