import type { ServerContext } from "@modelcontextprotocol/server";
import { type CallToolResult, createMcpHandler, ProtocolError, Server } from "@modelcontextprotocol/server";
import { VERSION } from "#shared/version.ts";
import type { ToolServer } from "../directory.ts";
import { type CallToolDeps, callTool } from "./call-tool.ts";
import { offered, pageAt, serversFor, type ToolCatalog } from "./catalog.ts";
import { RPC, type RpcMessage } from "./json-rpc.ts";
import type { ListKind, ServerItems } from "./lists.ts";
import { JOINED, ownNames } from "./naming.ts";
import { mayUseAll } from "./permission.ts";
import {
  forwardedParams,
  requestServer,
  type ServerRequest,
  type ServerRequestDeps,
  toProtocolError,
} from "./server-request.ts";
import type { ToolCaller } from "./tool-call-record.ts";

export type AggregateDeps = CallToolDeps;

export type AggregateCall = ToolCaller & {
  request: Request;
  message: RpcMessage;
  /** The message as JSON gives it. */
  parsed: unknown;
  /** The one server to represent, with its own names; absent: all servers. */
  only?: ToolServer;
};

const SELF = { name: "tallygate", title: "Tallygate", version: VERSION };
/** Interval of keep-alive comments on a silent stream. */
const KEEP_ALIVE_MS = 15_000;

/**
 * `/mcp`: all servers as one, for clients of every revision; or one server for clients of revisions that it does not
 * support. No state is kept between two requests of a client, so any replica can answer. A server's requests to the
 * client therefore reach only clients of the revision that carries them in answers; other clients appear to servers as
 * clients without such capabilities.
 */
export async function aggregate(deps: AggregateDeps, call: AggregateCall): Promise<Response> {
  const { method, params } = call.message;
  if (method === "notifications/cancelled") {
    const { key, labels } = call;
    deps.running.cancel({ keyId: key.id, session: labels.session, requestId: params["requestId"] });
  }
  const handler = createMcpHandler(() => serverFor(deps, call), { keepAliveMs: KEEP_ALIVE_MS });
  return await handler.fetch(call.request, { parsedBody: call.parsed });
}

function serverFor(deps: AggregateDeps, call: AggregateCall): Server {
  const offer: ToolCatalog = {
    lists: deps.lists,
    servers: call.only ? [call.only] : serversFor(deps.directory.current().toolServers, call.key),
    key: call.key,
    naming: call.only ? ownNames(call.only) : JOINED,
  };
  const server = new Server(SELF, {
    capabilities: { tools: {}, prompts: {}, resources: {}, completions: {} },
  });
  serveLists(server, offer);
  server.setRequestHandler("tools/call", async ({ params }, ctx) => {
    return (await callTool(deps, hopOf(call, ctx), {
      params,
      message: call.message,
      offer,
    })) as CallToolResult;
  });
  servePrompts(server, deps, { call, offer });
  serveResources(server, deps, { call, offer });
  return server;
}

function serveLists(server: Server, offer: ToolCatalog): void {
  server.setRequestHandler("tools/list", ({ params }) => listed(offer, "tools", params));
  server.setRequestHandler("prompts/list", ({ params }) => listed(offer, "prompts", params));
  server.setRequestHandler("resources/list", ({ params }) => listed(offer, "resources", params));
  server.setRequestHandler("resources/templates/list", ({ params }) =>
    listed(offer, "resourceTemplates", params),
  );
}

type Listed<Kind extends ListKind> = Record<Kind, ServerItems[Kind][]> & { nextCursor?: string };

/** The page at the cursor, in the protocol's form. */
async function listed<Kind extends ListKind>(
  offer: ToolCatalog,
  kind: Kind,
  params: { cursor?: string | undefined } | undefined,
): Promise<Listed<Kind>> {
  const page = pageAt(await offered(offer, kind), params?.cursor);
  if (!page)
    throw new ProtocolError(RPC.invalidParams, "Unknown cursor. Use the nextCursor of an earlier page.");
  // The protocol names the member after the kind.
  return { [kind]: page.items, ...page.next } as Listed<Kind>;
}

type Serving = { call: AggregateCall; offer: ToolCatalog };

const hopOf = (call: AggregateCall, ctx: ServerContext): Omit<ServerRequest, "server"> => ({
  caller: call,
  ctx,
  signals: [call.request.signal],
});

function servePrompts(server: Server, deps: AggregateDeps, { call, offer }: Serving): void {
  server.setRequestHandler("prompts/get", async ({ params }, ctx) => {
    const { to, name } = promptOf(offer, params.name);
    const it = { ...hopOf(call, ctx), server: to };
    return await requestServer(deps, it, ({ client, options }) =>
      client.getPrompt(forwardedParams(it, client, { ...params, name }), options),
    ).catch(told(deps, it));
  });
  server.setRequestHandler("completion/complete", async ({ params }, ctx) => {
    const { to, ref } = referenceOf(offer, params.ref);
    const it = { ...hopOf(call, ctx), server: to };
    return await requestServer(deps, it, ({ client, options }) =>
      client.complete(forwardedParams(it, client, { ...params, ref }), options),
    ).catch(told(deps, it));
  });
}

function serveResources(server: Server, deps: AggregateDeps, { call, offer }: Serving): void {
  server.setRequestHandler("resources/read", async ({ params }, ctx) => {
    const { to, uri } = resourceOf(offer, params.uri);
    const it = { ...hopOf(call, ctx), server: to };
    const read = await requestServer(deps, it, ({ client, options }) =>
      client.readResource(forwardedParams(it, client, { ...params, uri }), {
        ...options,
        cacheMode: "bypass",
      }),
    ).catch(told(deps, it));
    // An answer that requests input has no contents.
    if (!Array.isArray(read.contents)) return read;
    return {
      ...read,
      contents: read.contents.map((part) => ({ ...part, uri: offer.naming.uri(to, part.uri) })),
    };
  });
}

const told =
  (deps: ServerRequestDeps, it: ServerRequest) =>
  (error: unknown): never => {
    throw toProtocolError(deps, it, error);
  };

/** Prompts and resources belong to those who may use all of their server. */
const wholeServer = ({ servers, key }: ToolCatalog, name: string | undefined): ToolServer | null =>
  servers.find((it) => it.name === name && mayUseAll(key, it)) ?? null;

function promptOf(offer: ToolCatalog, told: string): { to: ToolServer; name: string } {
  const split = offer.naming.splitName(told);
  const to = wholeServer(offer, split?.server);
  if (!split || !to) throw new ProtocolError(RPC.invalidParams, "No such prompt.");
  return { to, name: split.own };
}

function resourceOf(offer: ToolCatalog, told: string): { to: ToolServer; uri: string } {
  const split = offer.naming.splitUri(told);
  const to = wholeServer(offer, split?.server);
  if (!split || !to) throw new ProtocolError(RPC.invalidParams, "No such resource.");
  return { to, uri: split.own };
}

type Reference = { type: "ref/prompt"; name: string } | { type: "ref/resource"; uri: string };

function referenceOf(offer: ToolCatalog, ref: Reference): { to: ToolServer; ref: Reference } {
  if (ref.type === "ref/prompt") {
    const { to, name } = promptOf(offer, ref.name);
    return { to, ref: { ...ref, name } };
  }
  const { to, uri } = resourceOf(offer, ref.uri);
  return { to, ref: { ...ref, uri } };
}
