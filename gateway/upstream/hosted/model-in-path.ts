import { GatewayError } from "../../errors.ts";
import type { HeaderTable } from "../../http/headers.ts";
import { memberValue, scanJson } from "../../http/scan.ts";
import { splice } from "../../http/splice.ts";
import type { Sending } from "../send.ts";

/** A messages call as rewritten for a host. */
type Placed = Pick<Sending, "url" | "headers" | "body">;

/**
 * Hosts of Anthropic's models that expect the model in the path and the version in the body (Anthropic, "Claude on
 * Amazon Bedrock", "Claude on Vertex AI").
 */
export const HOSTS = {
  bedrock(sending: Sending): Placed {
    const body = scanJson(sending.body);
    const model = encodeURIComponent(modelOf(sending));
    if (sending.surface !== "messages") throw new GatewayError("not_found");
    const { "anthropic-beta": betas, ...headers } = withoutVersion(sending);
    const beta = betas?.split(",").map((name) => name.trim());
    const streamed = memberValue(body, "stream") === true;
    return {
      url: `${rootOf(sending)}/model/${model}/invoke${streamed ? "-with-response-stream" : ""}`,
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
