import type { Static, TSchema } from "@sinclair/typebox";
import { type Fault, faultsOf, fits } from "#shared/schema.ts";
import type { HeaderView } from "../call.ts";
import { GatewayError, refuse } from "../errors.ts";
import type { BodyHold } from "../http/body-budget.ts";
import { requireUtf8 } from "../http/content-type.ts";
import { jsonInBytes, requireJsonLimits } from "../http/json-limits.ts";
import {
  bodyBroken,
  bodyTooSlow,
  bodyWaitMs,
  declaredLength,
  openRequestBody,
  type RequestBody,
  type RequestBodyDeps,
} from "../upstream/request-body.ts";

export type BodyLimits = {
  bytesMax: number;
  /** Takes the memory for the body before it is read; absent for bodies that are always small. */
  hold?: BodyHold;
  headers?: HeaderView;
};

/** Bodies of a declared length up to this are read in one piece, which is quicker. */
const ONE_PIECE_BYTES_MAX = 1024 * 1024;

/** A whole request body in UTF-8. @throws GatewayError unsupported_media_type; also what `readBytes` throws. */
export async function readBody(
  deps: RequestBodyDeps,
  request: Request,
  limits: BodyLimits,
): Promise<Uint8Array> {
  const { headers = request.headers } = limits;
  requireUtf8(headers);
  const coding = headers.get("content-encoding");
  if (coding !== null && !/^(?:identity)?$/i.test(coding)) {
    const sentence = "The body must not have a content-encoding.";
    throw new GatewayError("unsupported_media_type", sentence);
  }
  return await readBytes(deps, request, limits);
}

/**
 * The whole body of a request as it came, at most `bytesMax` bytes. A declared length over that is refused unread; an
 * undeclared one is counted on the way.
 * @throws GatewayError too_large; bodies_too_many; request_timeout; invalid_request when the client broke off.
 */
export async function readBytes(
  deps: RequestBodyDeps,
  request: Request,
  { bytesMax, hold, headers = request.headers }: BodyLimits,
): Promise<Uint8Array> {
  const declared = declaredLength(headers);
  if (declared !== null && declared > bytesMax) throw new GatewayError("too_large");
  hold?.take(declared ?? 0);
  if (declared !== null && declared <= ONE_PIECE_BYTES_MAX) return await inTime(deps, request, declared);
  const arrival = openRequestBody(request, bytesMax, deps);
  try {
    return await (declared === null ? counted(arrival, hold) : filled(arrival, declared));
  } catch (error) {
    arrival.cancel();
    throw error;
  }
}

/** The body in one piece, which has a deadline by its declared length: how much has come is not known. */
async function inTime(
  { clock, watchdog, patience }: RequestBodyDeps,
  request: Request,
  declared: number,
): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  const watched = {
    deadlineMs: clock.monotonicMs() + bodyWaitMs(patience, declared),
    client: true,
    expire: () => reject(bodyTooSlow()),
  };
  watchdog.watch(watched);
  try {
    request.bytes().then(resolve, reject);
    return await promise;
  } catch (cause) {
    throw cause instanceof GatewayError ? cause : bodyBroken(cause);
  } finally {
    watchdog.release(watched);
  }
}

async function filled(arrival: RequestBody, declared: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(declared);
  let size = 0;
  for (let chunk = await arrival.next(); chunk !== null; chunk = await arrival.next()) {
    if (size + chunk.byteLength > declared) throw bodyBroken();
    bytes.set(chunk, size);
    size += chunk.byteLength;
  }
  return bytes;
}

async function counted(arrival: RequestBody, hold: BodyHold | undefined): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for (let chunk = await arrival.next(); chunk !== null; chunk = await arrival.next()) {
    hold?.take(chunk.byteLength);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const JSON_BYTES_MAX = 1024 * 1024;
/** More than any body of ours has; counted before it is parsed. */
const JSON_VALUES_MAX = 50_000;
/** Faults that one answer names. */
const FAULTS_MAX = 20;

/**
 * The body, validated by `schema`; an absent one counts as `{}`.
 * @throws GatewayError too_large; request_timeout; invalid_request naming every member that is unknown, missing or wrong, and no value.
 */
export async function readJson<T extends TSchema>(
  deps: RequestBodyDeps,
  request: Request,
  schema: T,
): Promise<Static<T>> {
  const value = parse(await readBody(deps, request, { bytesMax: JSON_BYTES_MAX }));
  if (fits(schema, value)) return value;
  refuse(faultsOf(schema, value).slice(0, FAULTS_MAX).map(sentence).join(" "));
}

function parse(bytes: Uint8Array): unknown {
  if (bytes.byteLength === 0) return {};
  const written = requireJsonLimits(bytes, JSON_VALUES_MAX);
  const value = jsonInBytes(bytes);
  if (membersIn(value) < written) refuse("A name appears twice in one object of the body.");
  return value;
}

/** Members of a value and of what it holds: fewer than were written if a name was there twice, and the last one counted. */
const membersIn = (value: unknown): number =>
  typeof value !== "object" || value === null
    ? 0
    : Object.values(value).reduce(
        (sum, held) => sum + membersIn(held),
        Array.isArray(value) ? 0 : Object.keys(value).length,
      );

/** The sender chose the names in a path; a very long one is not repeated. */
const sentence = ({ path, message }: Fault): string =>
  `${path === "" ? "body" : path.length <= 200 ? path : "a field with a very long name"}: ${message}.`;
