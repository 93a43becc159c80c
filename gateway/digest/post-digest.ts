import { createHmac } from "node:crypto";
import type { Digest } from "#shared/digest.ts";
import { digestText, digestTitle } from "#shared/digest-text.ts";
import type { DigestWebhook } from "../stores/reports/digest-webhook.ts";
import type { OutboundFetch } from "../upstream/outbound-fetch.ts";

const ANSWER_MS_MAX = 20_000;

export type Posting = { id: string; dueOn: string; content: Digest; at: Date };

/**
 * Posts a digest as JSON, signed according to Standard Webhooks: HMAC-SHA-256 of `id.timestamp.body`. All attempts have
 * the same id. No redirect is followed, no internal address is called, and nothing of the answer is kept.
 * @throws Error if the receiver does not answer with a 2xx.
 */
export async function postDigest(
  reach: OutboundFetch,
  { url, secret, allowPrivateNetwork }: DigestWebhook,
  posting: Posting,
): Promise<void> {
  const body = JSON.stringify(payloadOf(posting));
  const seconds = String(Math.floor(posting.at.getTime() / 1000));
  const headers = {
    "content-type": "application/json",
    "user-agent": "tallygate",
    "webhook-id": posting.id,
    "webhook-timestamp": seconds,
    "webhook-signature": signatureOf(secret, `${posting.id}.${seconds}.${body}`),
  };
  const signal = AbortSignal.timeout(ANSWER_MS_MAX);
  const response = await reach({ url, allowPrivateNetwork }, { method: "POST", headers, body, signal });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`the digest webhook answered ${response.status}`);
}

/** `text` is what chat tools show. */
const payloadOf = ({ dueOn, content }: Posting) => ({
  type: "tallygate.digest",
  due_on: dueOn,
  text: `${digestTitle(content)}\n\n${digestText(content)}`,
  digest: content,
});

/** The address without its query, which is a credential at some receivers. */
export const withoutQuery = (url: string): string => {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
};

const signatureOf = (secret: string, text: string): string =>
  `v1,${createHmac("sha256", Buffer.from(secret.replace(/^whsec_/, ""), "base64"))
    .update(text)
    .digest("base64")}`;
