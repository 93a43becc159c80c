import {
  CLIENT_CAPABILITIES_META_KEY,
  type Client,
  type RequestOptions,
  ProtocolError as ToldError,
} from "@modelcontextprotocol/client";
import { ProtocolError, type ServerContext } from "@modelcontextprotocol/server";
import { joinSignals } from "#shared/join-signals.ts";
import { errorFields, type Log } from "#shared/log.ts";
import type { ToolServer } from "../directory.ts";
import { ToolServerRefusal } from "../upstream/tool-server.ts";
import type { Connections } from "./connections.ts";
import { isRecord, protocolErrorOf, RPC } from "./json-rpc.ts";
import type { ToolCaller } from "./tally.ts";

/** A silent server is given up after the first, one that tells of progress after the second. */
const SILENCE_MS = 240_000;
const WHOLE_MS = 3_600_000;

export type HopDeps = { connections: Connections; log: Log };

/** A request that goes on to a server. */
export type Hop = {
  caller: ToolCaller;
  server: ToolServer;
  ctx: ServerContext;
  /** One of them is aborted when the client leaves or cancels. */
  signals: readonly AbortSignal[];
};

export type Asked = { client: Client; options: RequestOptions };
type Params = Record<string, unknown>;

/** Does `work` on the caller's connection to the server, for as long as the client waits for it. */
export async function hop<T>(deps: HopDeps, it: Hop, work: (asked: Asked) => Promise<T>): Promise<T> {
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

/** What a failure is answered with: the server's own error as it stands, and of everything else only that it failed. */
export function toldError({ log }: HopDeps, { server }: Hop, error: unknown): ProtocolError {
  if (error instanceof ToldError) return new ProtocolError(error.code, error.message, error.data);
  if (error instanceof ToolServerRefusal) {
    log.warn({ ...errorFields(error.cause), server: server.name }, "a tool server refuses the gateway");
    return protocolErrorOf(error);
  }
  log.warn({ ...errorFields(error), server: server.name }, "a tool server did not answer");
  return new ProtocolError(RPC.internal, `The tool server ${server.name} did not answer.`);
}

function optionsOf({ ctx }: Hop, client: Client, signal: AbortSignal): RequestOptions {
  const progressToken = ctx.mcpReq._meta?.progressToken;
  return {
    signal,
    timeout: SILENCE_MS,
    resetTimeoutOnProgress: true,
    maxTotalTimeout: WHOLE_MS,
    // A client of the older revisions has no way to give what it was not asked for by a request.
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

/**
 * The parameters as the server gets them: with what the client can be asked, where the server asks for it in its
 * answers, and with what it gave when it was asked.
 */
export function sentParams<P extends Params>({ ctx }: Hop, client: Client, params: P): P {
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
