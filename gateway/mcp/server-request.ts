import {
  CLIENT_CAPABILITIES_META_KEY,
  type Client,
  type RequestOptions,
  SdkHttpError,
  ProtocolError as ServerError,
} from "@modelcontextprotocol/client";
import { ProtocolError, type ServerContext } from "@modelcontextprotocol/server";
import { joinSignals } from "#shared/join-signals.ts";
import { isRecord } from "#shared/json.ts";
import { errorFields, type Log } from "#shared/log.ts";
import type { ToolServer } from "../directory.ts";
import { reasonIn } from "../upstream/failures.ts";
import { ToolServerRefusal } from "../upstream/tool-server.ts";
import type { Connections } from "./connections.ts";
import { protocolErrorOf, RPC } from "./json-rpc.ts";
import type { ToolCaller } from "./tool-call-record.ts";

/** Timeouts: without any message from the server, and for the whole call while it reports progress. */
const SILENCE_MS = 240_000;
const WHOLE_MS = 3_600_000;

export type ServerRequestDeps = { connections: Connections; log: Log };

export type ServerRequest = {
  caller: ToolCaller;
  server: ToolServer;
  ctx: ServerContext;
  /** Any of them aborts when the client disconnects or cancels. */
  signals: readonly AbortSignal[];
};

export type ServerClient = { client: Client; options: RequestOptions };
type Params = Record<string, unknown>;

/** Runs `work` on the caller's connection to the server until the client disconnects or cancels. */
export async function requestServer<T>(
  deps: ServerRequestDeps,
  it: ServerRequest,
  work: (asked: ServerClient) => Promise<T>,
): Promise<T> {
  const { signal, leave } = joinSignals([...it.signals, it.ctx.mcpReq.signal]);
  try {
    return await deps.connections.use(
      { server: it.server, keyId: it.caller.key.id, session: it.caller.labels.session },
      (client) => work({ client, options: optionsOf(it, client, signal) }),
    );
  } finally {
    leave();
  }
}

/** The error to answer with: the server's own error unchanged; for any other failure, only that it failed. */
export function toProtocolError(
  { log }: ServerRequestDeps,
  { server }: ServerRequest,
  error: unknown,
): ProtocolError {
  if (error instanceof ServerError) return new ProtocolError(error.code, error.message, error.data);
  if (error instanceof ToolServerRefusal) {
    log.warn(
      { ...errorFields(error.cause), server: server.name },
      "a tool server refused the gateway's credential",
    );
    return protocolErrorOf(error);
  }
  const reason = reasonIn(error) ?? "other";
  const status = error instanceof SdkHttpError ? error.status : null;
  const facts = status === null ? { cause: reason } : { status };
  log.warn({ ...errorFields(error), server: server.name, ...facts }, "a tool server did not answer");
  const what = status === null ? `did not answer (cause ${reason})` : `answered with HTTP status ${status}`;
  return new ProtocolError(RPC.internal, `The tool server ${server.name} ${what}.`);
}

function optionsOf({ ctx }: ServerRequest, client: Client, signal: AbortSignal): RequestOptions {
  const progressToken = ctx.mcpReq._meta?.progressToken;
  return {
    signal,
    timeout: SILENCE_MS,
    resetTimeoutOnProgress: true,
    maxTotalTimeout: WHOLE_MS,
    // Clients of older revisions cannot answer a question that comes inside a response.
    allowInputRequired: ctx.mcpReq.envelope !== undefined && client.getProtocolEra() === "modern",
    ...(progressToken !== undefined && {
      onprogress: (progress) => {
        const params = { ...progress, progressToken };
        void ctx.mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined);
      },
    }),
  };
}

const capabilitiesOf = (envelope: Readonly<Record<string, unknown>>): unknown =>
  envelope[CLIENT_CAPABILITIES_META_KEY] ?? {};

/** The parameters to forward; for servers of the newest revision with the client's capabilities and its answers. */
export function forwardedParams<P extends Params>({ ctx }: ServerRequest, client: Client, params: P): P {
  const { envelope, inputResponses } = ctx.mcpReq;
  const { progressToken: _, ...meta } = isRecord(params["_meta"]) ? params["_meta"] : {};
  if (client.getProtocolEra() !== "modern" || envelope === undefined) return { ...params, _meta: meta };
  const requestState = ctx.mcpReq.requestState();
  return {
    ...params,
    ...(inputResponses && { inputResponses }),
    ...(requestState !== undefined && { requestState }),
    _meta: { ...meta, [CLIENT_CAPABILITIES_META_KEY]: capabilitiesOf(envelope) },
  };
}
