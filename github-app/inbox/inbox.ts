import { createHmac, timingSafeEqual } from "node:crypto";
import { within } from "#drizzle/database.ts";
import { failureClass } from "#drizzle/leases/failure-class.ts";
import type { Ambient } from "#shared/clock.ts";
import { type BodyReader, createBodyReader } from "#shared/read-body.ts";
import { reduce } from "../facts/reduce.ts";
import type { Delivery, StoreOutcome } from "../stores/inbox-store.ts";
import { isBoundedJson } from "./json-bounds.ts";

export type InboxDeps = Ambient & {
  /** The webhook secret, and the former one in a rotation. Empty: none is accepted; null: not known yet. */
  secrets: () => readonly string[] | null;
  store: (delivery: Delivery) => Promise<StoreOutcome>;
  /** Called after a delivery of this event was stored. */
  stored: (event: string) => void;
  /** Called with the event of a delivery whose signature was verified. */
  verified?: (event: string) => void;
  arrived?: () => void;
  /** Called with how a delivery was answered. */
  answered?: (name: AnswerName) => void;
};

/** GitHub sends no event over 25 MB. */
const BODY_BYTES_MAX = 25 * 1024 * 1024;
const TOTAL_BYTES_MAX = 128 * 1024 * 1024;
/** GitHub gives up after 10 s. */
const BODY_MS_MAX = 10_000;
/** Half of the 10 s after which GitHub counts a delivery as failed. */
const STORE_MS_MAX = 5_000;

const EVENT = /^[a-z0-9_]{1,64}$/;
const DELIVERY_ID = /^[A-Za-z0-9-]{1,64}$/;

const ANSWERS = {
  accepted: { status: 202, message: "The delivery was accepted." },
  slow: { status: 408, message: "The body did not arrive within 10 seconds." },
  malformed: {
    status: 400,
    message:
      "The delivery is not a GitHub webhook with a JSON body. Set the webhook's content type to application/json.",
  },
  unsigned: { status: 401, message: "The X-Hub-Signature-256 header does not match the body." },
  unconfigured: { status: 404, message: "No webhook secret is configured, so no webhook is accepted." },
  too_large: { status: 413, message: "The body is over 25 MiB." },
  unavailable: { status: 503, message: "The delivery cannot be stored right now. Redeliver it later." },
} as const;
type AnswerName = keyof typeof ANSWERS;

/** Answers webhook deliveries: 202 if the facts of a relevant event are stored, else GitHub can redeliver it. */
export function createInbox(deps: InboxDeps): (request: Request) => Promise<Response> {
  const bodies = createBodyReader({
    bytesMax: BODY_BYTES_MAX,
    totalBytesMax: TOTAL_BYTES_MAX,
    msMax: BODY_MS_MAX,
  });
  return async (request) => {
    deps.arrived?.();
    const name = await receive(deps, bodies, request).catch((error: unknown) => {
      // For example, a body that ends early.
      deps.log.warn({ failure: failureClass(error) }, "a delivery could not be read");
      return "malformed" as const;
    });
    const { status, message } = ANSWERS[name];
    deps.answered?.(name);
    const headers = name === "unavailable" ? { "retry-after": "30" } : {};
    if (status !== 202) deps.log.warn({ status, reason: name }, "a delivery was refused");
    const body = name === "accepted" ? { status: name } : { error: { type: name, message } };
    return Response.json(body, { status, headers });
  };
}

async function receive(deps: InboxDeps, bodies: BodyReader, request: Request): Promise<AnswerName> {
  const secrets = deps.secrets();
  if (secrets === null) return "unavailable";
  if (secrets.length === 0) return "unconfigured";

  // A length over the limit is named before the signature: GitHub shows the reason.
  if (Number(request.headers.get("content-length") ?? 0) > BODY_BYTES_MAX) return "too_large";

  // Verified before anything else; without a signature the body is not even read.
  const signature = readSignature(request.headers.get("x-hub-signature-256"));
  if (signature === null) return "unsigned";
  const bytes = await bodies.read(request);
  if (bytes === "tooLarge") return "too_large";
  if (bytes === "full") return "unavailable";
  if (bytes === "slow") return "slow";
  if (!isSigned(bytes, signature, secrets)) return "unsigned";

  const event = request.headers.get("x-github-event") ?? "";
  const deliveryId = request.headers.get("x-github-delivery") ?? "";
  const payload = parseObject(bytes);
  if (!EVENT.test(event) || !DELIVERY_ID.test(deliveryId) || payload === null) return "malformed";
  deps.verified?.(event);

  // From here on there are only facts; the payload goes no further.
  const receivedAt = deps.clock.now();
  const reduced = reduce(event, payload, receivedAt);
  if (reduced.kind === "ignored") return "accepted";
  if (reduced.kind === "malformed") return "malformed";
  return store(deps, { deliveryId, receivedAt, reduced });
}

function parseObject(bytes: Uint8Array): object | null {
  if (!isBoundedJson(bytes)) return null;
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

async function store(deps: InboxDeps, delivery: Delivery): Promise<AnswerName> {
  const { event, action } = delivery.reduced;
  try {
    const outcome = await within(STORE_MS_MAX, deps.store(delivery));
    deps.log.info({ deliveryId: delivery.deliveryId, event, action, outcome }, "a delivery was accepted");
    if (outcome === "stored") deps.stored(event);
    return "accepted";
  } catch (error) {
    const failure = failureClass(error);
    deps.log.error({ deliveryId: delivery.deliveryId, event, action, failure }, "a delivery was not stored");
    return "unavailable";
  }
}

const FORM = /^sha256=([0-9a-f]{64})$/;

/** The digest of an `X-Hub-Signature-256` header; null for a missing or malformed one. */
function readSignature(header: string | null): Uint8Array | null {
  const hex = FORM.exec(header ?? "")?.[1];
  return hex === undefined ? null : Buffer.from(hex, "hex");
}

/** Whether `signature` is the bytes' HMAC-SHA-256 under a secret. All are tried, in constant time. */
function isSigned(bytes: Uint8Array, signature: Uint8Array, secrets: readonly string[]): boolean {
  let signed = false;
  for (const secret of secrets) {
    const digest = createHmac("sha256", secret).update(bytes).digest();
    if (timingSafeEqual(digest, signature)) signed = true;
  }
  return signed;
}
