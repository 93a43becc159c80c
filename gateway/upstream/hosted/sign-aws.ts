import { AwsV4Signer } from "aws4fetch";
import type { Clock } from "#shared/clock.ts";
import type { Sending } from "../send.ts";

/** `AKID:SECRET` or `AKID:SECRET:TOKEN`; anything else is a Bedrock API key. */
const ACCESS_KEY = /^((?:AKIA|ASIA)[A-Z0-9]{12,124}):([^:\s]+)(?::(\S+))?$/;
/** `bedrock-runtime.us-east-1.amazonaws.com`, its FIPS and VPC forms, and `bedrock-mantle.us-east-1.api.aws`. */
const REGION = /(?:^|\.)bedrock[a-z-]*\.([a-z]{2}[a-z-]*-\d)\./;
const REGION_ELSE = "us-east-1";

/**
 * The headers that authenticate a call to AWS: Signature Version 4 over URL and body with an access key, or the API key
 * as a bearer token. The region is taken from the URL.
 */
export async function awsHeaders(
  credential: string,
  { url, body }: Pick<Sending, "url" | "body">,
  clock: Clock,
): Promise<Record<string, string>> {
  const [, accessKeyId, secretAccessKey, sessionToken] = ACCESS_KEY.exec(credential) ?? [];
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    return { authorization: `Bearer ${credential}` };
  }
  const { hostname } = new URL(url);
  const signer = new AwsV4Signer({
    method: "POST",
    url,
    body: body as Uint8Array<ArrayBuffer>,
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
