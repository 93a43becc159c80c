import { createHmac } from "node:crypto";
import type { OutboundFetch } from "./outbound-fetch.ts";

const ANSWER_MS_MAX = 20_000;

type Target = { url: string; allowPrivateNetwork: boolean };
type Posting = { id: string; at: Date; body: string; secret?: string | undefined };

/**
 * Posts JSON, with a secret signed according to Standard Webhooks: HMAC-SHA-256 of `id.timestamp.body`. All attempts have
 * the same id. No redirect is followed, no internal address is called, and nothing of the answer is kept.
 * @throws Error if the receiver does not answer with a 2xx.
 */
export async function signedPost(
  reach: OutboundFetch,
  to: Target,
  { id, at, body, secret }: Posting,
): Promise<void> {
  const seconds = String(Math.floor(at.getTime() / 1000));
  const headers = {
    "content-type": "application/json",
    "user-agent": "tallygate",
    ...(secret !== undefined && {
      "webhook-id": id,
      "webhook-timestamp": seconds,
      "webhook-signature": signatureOf(secret, `${id}.${seconds}.${body}`),
    }),
  };
  const signal = AbortSignal.timeout(ANSWER_MS_MAX);
  const response = await reach(to, { method: "POST", headers, body, signal });
  await response.body?.cancel();
  if (!response.ok) throw new PostRefused(response.status);
}

/** The receiver's answer; its name is all that a failure's class shows of it. */
class PostRefused extends Error {
  override readonly name: string;
  constructor(status: number) {
    super(`the receiver answered ${status}`);
    this.name = `Answer ${status}`;
  }
}

const signatureOf = (secret: string, text: string): string =>
  `v1,${createHmac("sha256", Buffer.from(secret.replace(/^whsec_/, ""), "base64"))
    .update(text)
    .digest("base64")}`;
