import { GatewayError, refuse } from "../errors.ts";
import { BATCH } from "../http/deciding-names.ts";
import { OPEN_BRACE, skipObject, skipWhitespace } from "../http/json-grammar.ts";
import { scanJson } from "../http/scan.ts";
import { refuseBatchInLane } from "../routing/subscription-lane.ts";
import type { BatchDeps } from "./deps.ts";
import type { BatchRequest } from "./line-batches.ts";
import { singleMember } from "./request-lines.ts";
import { batchResolver, type Resolver } from "./resolve.ts";
import { createBatch } from "./save-batch.ts";

const ENDPOINT = "/v1/messages";
const WINDOW = "24h";

const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** `POST /v1/messages/batches`: Anthropic's batches, whose requests are in the body. */
export async function createMessageBatch(
  deps: BatchDeps,
  { key, headers, bytes, origin }: BatchRequest,
): Promise<Response> {
  refuseBatchInLane(headers);
  const resolver = batchResolver(deps, key, headers);
  const body = withModels(bytes, resolver);
  await resolver.evaluate();
  const { provider, routes, models, direct, bound, unpriced } = resolver.summary;
  if (!provider) refuse("`requests` must hold at least one request.");
  const facts = {
    endpoint: ENDPOINT,
    inputFileId: null,
    completionWindow: WINDOW,
    routes: [...routes],
    models: [...models],
    direct,
  };
  const bodies = { body, labelled: scanJson(bytes) };
  const batch = { kind: "messages", key, headers, provider, ...bodies, facts, origin } as const;
  return await createBatch(deps, { usd: bound ?? 0n, unpriced }, batch);
}

/** The body with every request's model resolved; all other bytes unchanged. */
function withModels(bytes: Uint8Array, resolver: Resolver): Uint8Array {
  const { valueStart } = singleMember(scanJson(bytes, BATCH), "requests");
  const parts: Uint8Array[] = [];
  let copied = 0;
  let number = 0;
  for (const [start, end] of elementsOf(bytes, valueStart)) {
    number += 1;
    try {
      const params = singleMember(scanJson(bytes.subarray(start, end)), "params");
      const from = start + params.valueStart;
      const to = start + params.valueEnd;
      parts.push(bytes.subarray(copied, from), resolver.resolve("messages", bytes.subarray(from, to)));
      copied = to;
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      throw new GatewayError(error.type, `Request ${number}: ${error.message}`, error);
    }
  }
  return Buffer.concat([...parts, bytes.subarray(copied)]);
}

/** Byte ranges of an array's objects. The body must have been scanned, so that its syntax is known to be valid. */
function* elementsOf(bytes: Uint8Array, arrayStart: number): Generator<[start: number, end: number]> {
  if (bytes[arrayStart] !== OPEN_BRACKET) refuse("`requests` must be a list.");
  let at = skipWhitespace(bytes, arrayStart + 1);
  while (bytes[at] !== CLOSE_BRACKET) {
    if (bytes[at] !== OPEN_BRACE) refuse("A request must be an object.");
    const end = skipObject(bytes, at, 1);
    yield [at, end];
    at = skipWhitespace(bytes, end);
    if (bytes[at] === COMMA) at = skipWhitespace(bytes, at + 1);
  }
}
