import type { Clock } from "#shared/clock.ts";
import { PROVIDERS } from "../../providers/catalog.ts";
import type { ProviderFacts } from "../../providers/provider-facts.ts";
import { estimatingSender } from "../estimated-count.ts";
import type { OutboundFetch } from "../outbound-fetch.ts";
import type { Send, Sending } from "../send.ts";
import { bedrockAnswer } from "./bedrock-answer.ts";
import { HOSTS } from "./model-in-path.ts";
import { awsHeaders } from "./sign-aws.ts";
import { type GoogleHeaders, googleSigner } from "./sign-google.ts";

export type HostedDeps = { clock: Clock; reach: OutboundFetch };

/**
 * Adapts calls to cloud-hosted models: the cloud's URL, signature, and the answer converted back to the wire's form.
 * Token counts that no provider gives are estimated. Other calls go to `send` unchanged. Rejects as `send` does, and with a GatewayError if the call cannot be signed.
 */
export function hostedSender(send: Send, deps: HostedDeps): Send {
  const google = googleSigner(deps);
  const sendHosted = async (sending: Sending, { auth, hostedBy }: ProviderFacts) => {
    const placed = hostedBy ? { ...sending, ...HOSTS[hostedBy](sending) } : sending;
    for (const [name, value] of Object.entries(
      await authHeaders(placed, auth, { google, clock: deps.clock }),
    )) {
      placed.headers[name] = value;
    }
    const answer = await send(placed);
    return hostedBy === "bedrock" ? bedrockAnswer(answer, sending.target.provider.idleMs) : answer;
  };
  return estimatingSender((sending) => {
    const facts: ProviderFacts = PROVIDERS[sending.target.provider.kind];
    const isHosted = facts.hostedBy !== undefined || facts.auth === "aws" || facts.auth === "google";
    return isHosted ? sendHosted(sending, facts) : send(sending);
  });
}

type Signers = { google: GoogleHeaders; clock: Clock };

async function authHeaders(
  sending: Sending,
  auth: ProviderFacts["auth"],
  { google, clock }: Signers,
): Promise<Record<string, string>> {
  const { provider } = sending.target;
  const credential = provider.credential?.reveal();
  // With subscription passthrough the caller's own credential is already set.
  if (credential === undefined || sending.headers["authorization"] !== undefined) return {};
  return auth === "google" ? google(credential, provider) : awsHeaders(credential, sending, clock);
}
