import { AwsV4Signer } from "aws4fetch";
import type { Clock } from "#shared/clock.ts";
import { GatewayError } from "../../errors.ts";
import type { HeaderTable } from "../../http/headers.ts";
import { memberValue, scanJson } from "../../http/scan.ts";
import { splice } from "../../http/splice.ts";
import { PROVIDERS } from "../../providers/catalog.ts";
import type { ProviderFacts } from "../../providers/provider-facts.ts";
import { estimatingSender } from "../estimated-count.ts";
import type { OutboundFetch } from "../outbound-fetch.ts";
import type { Send, Sending } from "../send.ts";
import { bedrockAnswer } from "./bedrock-answer.ts";
import { type GoogleHeaders, googleSigner } from "./sign-google.ts";
import { titanAnswer, titanRequest } from "./titan-embeddings.ts";

export type HostedDeps = { clock: Clock; reach: OutboundFetch };

/**
 * Adapts calls to cloud-hosted models: the cloud's URL, signature, and the answer converted back to the wire's form.
 * Token counts that no provider gives are estimated. Other calls go to `send` unchanged. Rejects as `send` does, and with a GatewayError if the call cannot be signed.
 */
export function hostedSender(send: Send, deps: HostedDeps): Send {
  const google = googleSigner(deps);
  const sendHosted = async (sending: Sending, { auth, hostedBy }: ProviderFacts) => {
    const isOwn = sending.vendor !== undefined || sending.target.wire === "bedrock";
    const placed = hostedBy && !isOwn ? { ...sending, ...HOSTS[hostedBy](sending) } : sending;
    for (const [name, value] of Object.entries(
      await authHeaders(placed, auth, { google, clock: deps.clock }),
    )) {
      placed.headers[name] = value;
    }
    const answer = await send(placed);
    if (hostedBy !== "bedrock" || isOwn) return answer;
    const read = bedrockAnswer(answer, sending.target.provider.idleMs);
    return sending.surface === "embeddings" ? await titanAnswer(read, sending) : read;
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

/** `AKID:SECRET` or `AKID:SECRET:TOKEN`; anything else is a Bedrock API key. */
const ACCESS_KEY = /^((?:AKIA|ASIA)[A-Z0-9]{12,124}):([^:\s]+)(?::(\S+))?$/;
/** `bedrock-runtime.us-east-1.amazonaws.com`, its FIPS and VPC forms, and `bedrock-mantle.us-east-1.api.aws`. */
const REGION = /(?:^|\.)bedrock[a-z-]*\.([a-z]{2}[a-z-]*-\d)\./;
const REGION_ELSE = "us-east-1";

/** Headers for AWS: Signature Version 4 with an access key, or the API key as bearer. The URL names the region. */
async function awsHeaders(
  credential: string,
  { url, body, vendor }: Pick<Sending, "url" | "body" | "vendor">,
  clock: Clock,
): Promise<Record<string, string>> {
  const [, accessKeyId, secretAccessKey, sessionToken] = ACCESS_KEY.exec(credential) ?? [];
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    return { authorization: `Bearer ${credential}` };
  }
  const { hostname } = new URL(url);
  const signer = new AwsV4Signer({
    method: vendor?.method ?? "POST",
    url,
    ...(!vendor?.empty && { body: body as Uint8Array<ArrayBuffer> }),
    accessKeyId,
    secretAccessKey,
    ...(sessionToken === undefined ? {} : { sessionToken }),
    service: hostname.startsWith("bedrock-mantle.") ? "bedrock-mantle" : "bedrock",
    region: REGION.exec(hostname)?.[1] ?? REGION_ELSE,
    datetime: clock
      .now()
      .toISOString()
      .replace(/[:-]|\.\d{3}/g, ""),
  });
  const { headers } = await signer.sign();
  return Object.fromEntries([...headers].filter(([name]) => name !== "host"));
}

/** A messages call as rewritten for a host. */
type Placed = Pick<Sending, "url" | "headers" | "body" | "decode">;

/**
 * Hosts of Anthropic's models that expect the model in the path and the version in the body (Anthropic, "Claude on
 * Amazon Bedrock", "Claude on Vertex AI").
 */
const HOSTS = {
  bedrock(sending: Sending): Placed {
    const body = scanJson(sending.body);
    const model = encodeURIComponent(modelOf(sending));
    const url = `${rootOf(sending)}/model/${model}/invoke`;
    if (sending.surface === "embeddings")
      return { url, headers: sending.headers, body: titanRequest(sending, modelOf(sending)), decode: true };
    if (sending.surface !== "messages") throw new GatewayError("not_found");
    const { "anthropic-beta": betas, ...headers } = withoutVersion(sending);
    const beta = betas?.split(",").map((name) => name.trim());
    const streamed = memberValue(body, "stream") === true;
    return {
      url: url + (streamed ? "-with-response-stream" : ""),
      headers,
      body: splice(body, {
        remove: ["model", "stream"],
        add: {
          anthropic_version: versionOf(sending, "bedrock-2023-05-31"),
          ...(beta ? { anthropic_beta: beta } : {}),
        },
      }),
    };
  },

  vertex(sending: Sending): Placed {
    const body = scanJson(sending.body);
    const models = `${rootOf(sending)}/publishers/anthropic/models`;
    const add = { anthropic_version: versionOf(sending, "vertex-2023-10-16") };
    const headers = withoutVersion(sending);
    // On Vertex the token counter is a separate model; the model to count for stays in the body.
    if (sending.surface === "messages.count_tokens") {
      return { url: `${models}/count-tokens:rawPredict`, headers, body: splice(body, { add }) };
    }
    const model = encodeURIComponent(modelOf(sending)).replaceAll("%40", "@");
    const streamed = memberValue(body, "stream") === true;
    return {
      url: `${models}/${model}:${streamed ? "streamRawPredict" : "rawPredict"}`,
      headers,
      body: splice(body, { remove: ["model"], add }),
    };
  },
} as const satisfies Record<string, (sending: Sending) => Placed>;

/** Anthropic's first API version. Both clouds have their own name for it, but not for later ones. */
const FIRST_VERSION = "2023-06-01";

function versionOf({ headers }: Sending, first: string): string {
  const version = headers["anthropic-version"] ?? FIRST_VERSION;
  return version === FIRST_VERSION ? first : version;
}

function withoutVersion(sending: Sending): HeaderTable {
  const { "anthropic-version": _, ...headers } = sending.headers;
  return headers;
}

const rootOf = ({ target }: Sending): string => target.provider.baseUrl;

function modelOf({ target }: Sending): string {
  if (target.model === null) throw new GatewayError("model_not_found");
  return target.model;
}
