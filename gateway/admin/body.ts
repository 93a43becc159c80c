import type { Static, TSchema } from "@sinclair/typebox";
import { type Fault, faultsOf, fits } from "#shared/schema.ts";
import { GatewayError } from "../errors.ts";
import { readBody } from "../surfaces/body.ts";
import type { RequestBodyDeps } from "../upstream/request-body.ts";

const BODY_BYTES_MAX = 1024 * 1024;

/**
 * The body, validated by `schema`; an absent one counts as `{}`.
 * @throws GatewayError too_large; request_timeout; invalid_request naming every member that is unknown, missing or wrong, and no value.
 */
export async function readJson<T extends TSchema>(
  deps: RequestBodyDeps,
  request: Request,
  schema: T,
): Promise<Static<T>> {
  const value = parse(await readBody(deps, request, { bytesMax: BODY_BYTES_MAX }));
  if (fits(schema, value)) return value;
  throw new GatewayError("invalid_request", faultsOf(schema, value).map(sentence).join(" "));
}

function parse(bytes: Uint8Array): unknown {
  if (bytes.byteLength === 0) return {};
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new GatewayError("invalid_request", "The body is not JSON.");
  }
}

/** The sender chose the names in a path; a very long one is not repeated. */
const sentence = ({ path, message }: Fault): string =>
  `${path === "" ? "body" : path.length <= 200 ? path : "a field with a very long name"}: ${message}.`;
