import { Elysia } from "elysia";
import { newId } from "#shared/ids.ts";
import { isRecord } from "#shared/json.ts";
import { errorFields, type Log } from "#shared/log.ts";
import type { ToolServer } from "../directory.ts";
import { GatewayError } from "../errors.ts";
import type { BodyBudget, BodyHold } from "../http/body-budget.ts";
import type { aggregate as Aggregate, AggregateDeps } from "../mcp/aggregate.ts";
import type { Era } from "../mcp/connections.ts";
import { RpcError, type RpcMessage, readMessage, rpcErrorResponse } from "../mcp/json-rpc.ts";
import { requireOwnOrigin } from "../mcp/origin.ts";
import { mayUseServer } from "../mcp/permission.ts";
import { type RelayDeps, relay } from "../mcp/relay.ts";
import { externalIdOf, labelsOf, recordDenied, type ToolCaller } from "../mcp/tool-call-record.ts";
import { readBody } from "../plugins/body.ts";
import { authenticate, type CallerCheck } from "../plugins/client-key.ts";
import { reasonIn } from "../upstream/failures.ts";
import type { RequestBodyDeps } from "../upstream/request-body.ts";
import { documented, jsonBody } from "./documented.ts";

export type McpDeps = RelayDeps &
  AggregateDeps &
  RequestBodyDeps & {
    callers: CallerCheck;
    bodyBudget: BodyBudget;
    /** Largest message of a client. */
    bytesMax: { tool: number };
    /** Hosts that pages may come from, besides this machine's own names. */
    publicUrl: string | null;
    allowedHosts: readonly string[] | null;
    log: Log;
  };

const DESCRIPTION =
  "JSON-RPC 2.0 of the Model Context Protocol over streamable HTTP, revisions 2025-06-18, 2025-11-25 and 2026-07-28. A key's `mcp` scope decides what is listed and callable. Every tool call is one record; arguments and results are not stored.";
const ANSWERS = {
  200: "The response as JSON or as an event stream, including protocol errors.",
  202: "A notification was taken.",
  400: "The message is not JSON-RPC 2.0, or its headers contradict the body.",
  401: "No valid client key.",
  402: "The key's budget is used up. At `/mcp` this is an error in an answer with status 200.",
  403: "The request comes from a page of another origin.",
  404: "No such tool server or session.",
  405: "The method is not served.",
  413: "The message is larger than TOOL_BYTES_MAX.",
  429: "The key has reached one of its limits. At `/mcp` this is an error in an answer with status 200.",
  502: "The tool server could not be reached.",
  503: "The tool server refused the gateway's credential or redirected, or calls cannot be recorded.",
};

const detail = (summary: string) =>
  documented(summary, {
    tag: "Tool gateway",
    description: DESCRIPTION,
    body: jsonBody({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
    answers: ANSWERS,
  });

/** `/mcp`, all tool servers as one, and `/mcp/{server}`, each of them as it is. */
export const mcp = (deps: McpDeps) =>
  new Elysia({ name: "surface.mcp" })
    .post("/mcp", ({ request }) => served(deps, request, null), {
      parse: "none",
      detail: detail("Use the tools of all servers, named `server__tool`"),
    })
    .all("/mcp", ({ request }) => served(deps, request, null), { parse: "none", detail: { hide: true } })
    .post("/mcp/:server", ({ request, params }) => served(deps, request, params.server), {
      parse: "none",
      detail: detail("Use one tool server"),
    })
    .all("/mcp/:server", ({ request, params }) => served(deps, request, params.server), {
      parse: "none",
      detail: { hide: true },
    });

/** Loads the protocol's library with the first use: it is large, and many gateways have no tool servers. */
const aggregated: typeof Aggregate = async (deps, asked) =>
  (await import("../mcp/aggregate.ts")).aggregate(deps, asked);

const METHODS = new Set(["POST", "GET", "DELETE"]);

type Posted = { message: RpcMessage; bytes: Uint8Array };

/** Who asks, what, and of whom; every failure in the protocol's own form. */
async function served(deps: McpDeps, request: Request, serverName: string | null): Promise<Response> {
  const hold = deps.bodyBudget.hold();
  let posted: Posted | null = null;
  try {
    requireOwnOrigin(request.headers, deps);
    const { key } = await authenticate(deps.callers, request);
    requireMethod(request, serverName);
    posted = request.method === "POST" ? await postedIn(deps, request, hold) : null;
    const caller = { key, labels: labelsOf(request.headers, posted?.message.params ?? {}) };
    if (serverName !== null) return await relayed(deps, request, { caller, serverName, posted });
    if (!posted) throw new GatewayError("method_not_allowed");
    return await aggregated(deps, { ...caller, request, ...parsedOf(posted) });
  } catch (error) {
    // No answer reaches a client that has disconnected.
    const requestId = newId();
    if (!request.signal.aborted) logFailure(deps, error, { requestId, serverName });
    return rpcErrorResponse(error, posted?.message.id, requestId);
  } finally {
    hold.release();
  }
}

/** `/mcp` has no sessions, so nothing to listen to between requests and nothing to end. */
function requireMethod({ method }: Request, serverName: string | null): void {
  const isServed = serverName === null ? method === "POST" : METHODS.has(method);
  if (isServed) return;
  const error = new GatewayError("method_not_allowed");
  error.headers = { allow: serverName === null ? "POST" : "POST, GET, DELETE" };
  throw error;
}

async function postedIn(deps: McpDeps, request: Request, hold: BodyHold): Promise<Posted> {
  const [type = ""] = (request.headers.get("content-type") ?? "").split(";", 1);
  if (type.trim().toLowerCase() !== "application/json") throw new GatewayError("unsupported_media_type");
  const bytes = await readBody(deps, request, { bytesMax: deps.bytesMax.tool, hold });
  return { message: readMessage(bytes), bytes };
}

type Relayed = { caller: ToolCaller; serverName: string; posted: Posted | null };

async function relayed(
  deps: McpDeps,
  request: Request,
  { caller, serverName, posted }: Relayed,
): Promise<Response> {
  const server = deps.directory.current().toolServers.get(serverName);
  if (!server || !mayUseServer(caller.key, server)) {
    if (server && posted) await recordHidden(deps, { ...caller, server }, posted.message);
    throw new GatewayError("not_found", "No tool server has this name.");
  }
  const { method, headers, signal } = request;
  // What a session's messages mean is known to the server that has it.
  if (
    posted &&
    !headers.has("mcp-session-id") &&
    !(await deps.connections.speaks(server, eraOf(headers, posted)))
  ) {
    return await aggregated(deps, { ...caller, request, ...parsedOf(posted), only: server });
  }
  const answer = await relay(deps, { ...caller, server, method, headers, posted, signal });
  return posted || answer.body === null
    ? answer
    : new Response(answer.body.pipeThrough(whileAllowed(deps, request, serverName)), answer);
}

/** For a stream that a server keeps open for its messages: passes them on as long as the caller's key is valid and may use the server. */
const whileAllowed = ({ callers, directory }: McpDeps, request: Request, serverName: string) =>
  new TransformStream<Uint8Array, Uint8Array>({
    async transform(chunk, controller) {
      const { key } = await authenticate(callers, request);
      const server = directory.current().toolServers.get(serverName);
      if (!server || !mayUseServer(key, server)) throw new GatewayError("not_found");
      controller.enqueue(chunk);
    },
  });

const parsedOf = ({ message, bytes }: Posted): { message: RpcMessage; parsed: unknown } => ({
  message,
  parsed: JSON.parse(new TextDecoder().decode(bytes)),
});

const PROTOCOL_VERSION = "io.modelcontextprotocol/protocolVersion";

/** Self-contained messages name their revision in `_meta`; others name it in the header, if anywhere. */
function eraOf(headers: Headers, { message: { params } }: Posted): Era {
  const meta = params["_meta"];
  const isAlone = isRecord(meta) && PROTOCOL_VERSION in meta;
  return isAlone || (headers.get("mcp-protocol-version") ?? "") >= "2026" ? "modern" : "legacy";
}

/** A server that the key may not use answers like one that does not exist; that its tool was called is recorded. */
async function recordHidden(
  deps: McpDeps,
  caller: ToolCaller & { server: ToolServer },
  { method, params }: RpcMessage,
): Promise<void> {
  const tool = params["name"];
  if (method !== "tools/call" || typeof tool !== "string") return;
  await recordDenied(deps, { ...caller, tool, externalId: externalIdOf(params) });
}

type Failed = { requestId: string; serverName: string | null };

function logFailure({ log, directory }: McpDeps, error: unknown, { requestId, serverName }: Failed): void {
  if (error instanceof RpcError || (error instanceof GatewayError && error.cause === undefined)) return;
  const cause = error instanceof GatewayError ? error.cause : error;
  // An address may contain anything: only names of configured servers are logged.
  const server = directory.current().toolServers.get(serverName ?? "")?.name;
  const facts = { requestId, server, cause: reasonIn(error) ?? undefined };
  log.warn({ ...errorFields(cause), ...facts }, "a message for tools failed");
}
