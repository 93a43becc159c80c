import { DEFAULT_ORG } from "#shared/ids.ts";
import { isRecord } from "#shared/json.ts";
import type { ToolServer } from "../directory.ts";
import { GatewayError } from "../errors.ts";
import type { SealContext, Sealer } from "../stores/seal.ts";
import { reasonIn } from "../upstream/failures.ts";
import type { ToolServerFetch } from "../upstream/tool-server.ts";
import { type AdmitDeps, admitToolCall, type DeniedResult } from "./admit-tool-call.ts";
import { RPC, RpcError, type RpcMessage } from "./json-rpc.ts";
import { NO_ANSWER, notTaken, outcomeOf, outcomeOfFailure } from "./outcome.ts";
import { mayCall, mayHideTools, mayUseAll } from "./permission.ts";
import {
  externalIdOf,
  type OpenToolCall,
  recordDenied,
  type ToolCall,
  type ToolCaller,
} from "./tool-call-record.ts";
import { isEventStream, responseIn, responseOf, watched } from "./watch-answer.ts";

export type RelayDeps = AdmitDeps & {
  askToolServer: ToolServerFetch;
  /** Seals sessions' ids of servers, so that no other key and no other server gets them. */
  sealer: Sealer;
};

export type RelayCall = ToolCaller & {
  server: ToolServer;
  method: string;
  headers: Headers;
  /** Null for GET and DELETE, which carry none. */
  posted: { message: RpcMessage; bytes: Uint8Array } | null;
  /** Aborted when the client leaves. */
  signal: AbortSignal;
};

/**
 * `/mcp/{server}`: forwards one client request to the server byte for byte, and the answer back. Client and server share
 * sessions, notifications and the protocol's revision; the gateway adds permission, the credential and the record of each call.
 */
export async function relay(deps: RelayDeps, call: RelayCall): Promise<Response> {
  const { server, posted, key } = call;
  const headers = headersToServer(deps, call);

  // Permission: a tool that the key may not call answers like one that does not exist
  const toolCall = posted && toolCallOf(call, posted.message);
  if (toolCall && !mayCall(key, server, toolCall.tool)) {
    await recordDenied(deps, toolCall);
    throw unknownTool(toolCall.tool);
  }
  if (posted && !mayUseAll(key, server)) requireToolMethod(posted.message);

  // Guardrails, limits and record: from here on a call settles exactly once
  const admitted = toolCall && (await admitToolCall(deps, toolCall, posted.message));
  if (admitted?.kind === "denied") return deniedAnswer(posted?.message.id, admitted.result);
  const open = admitted?.call ?? null;
  const answer = await sendToServer(deps, call, { headers, open });
  const headersToClient = clientHeaders(deps, call, answer);

  // Answer
  if (posted?.message.method === "tools/list" && answer.ok && mayHideTools(key, server)) {
    return await listed(call, posted.message, { answer, headers: headersToClient });
  }
  if (!open || !posted) return new Response(answer.body, { status: answer.status, headers: headersToClient });
  return await recordedAnswer(open, posted.message, { answer, headers: headersToClient });
}

const deniedAnswer = (id: RpcMessage["id"], result: DeniedResult): Response =>
  Response.json({ jsonrpc: "2.0", id: id ?? null, result: { ...result, resultType: "complete" } });

const unknownTool = (name: string): RpcError =>
  new RpcError(RPC.invalidParams, `Unknown tool: ${name.length <= 128 ? name : "its name is too long"}`, 200);

function toolCallOf(call: RelayCall, { method, params }: RpcMessage): ToolCall | null {
  if (method !== "tools/call") return null;
  const tool = params["name"];
  if (typeof tool !== "string") throw new RpcError(RPC.invalidParams, "`params.name` must be a string.");
  requireSameName(call.headers.get("mcp-name"), tool);
  return { key: call.key, labels: call.labels, server: call.server, tool, externalId: externalIdOf(params) };
}

/** The header and the body must name the same tool. */
function requireSameName(header: string | null, tool: string): void {
  if (header === null || header === tool || encodedName(header) === tool) return;
  throw new RpcError(RPC.headerMismatch, "Mcp-Name is not the name in the body.");
}

/** The protocol's form for names that a header cannot carry. */
function encodedName(header: string): string | null {
  const [, base64] = /^=\?base64\?([A-Za-z0-9+/=_-]*)\?=$/i.exec(header) ?? [];
  return base64 === undefined ? null : Buffer.from(base64, "base64").toString("utf8");
}

/** Methods that concern a whole server: its prompts, resources and completions. */
const OF_THE_SERVER = /^(prompts|resources|completion|subscriptions|tasks)\//;

/** Refuses these methods to a key for single tools. */
function requireToolMethod({ method }: RpcMessage): void {
  if (method === null || !OF_THE_SERVER.test(method)) return;
  throw new RpcError(RPC.methodNotFound, "This key may only use single tools of this server.", 200);
}

const SESSION = "mcp-session-id";

const belongingOf = ({ server, key }: RelayCall): SealContext => ({
  orgId: DEFAULT_ORG,
  toolServer: server.name,
  keyId: key.id,
  purpose: "tool_session",
});

function headersToServer({ sealer }: RelayDeps, call: RelayCall): Headers {
  const headers = serverHeaders(call.headers);
  const sealed = call.headers.get(SESSION);
  if (sealed === null) return headers;
  const session = sealer.open(sealed, belongingOf(call));
  // The client then begins a new session, as for one that has ended.
  if (!session) throw new RpcError(RPC.unauthorized, "No such session.", 404);
  headers.set(SESSION, session.reveal());
  return headers;
}

function clientHeaders({ sealer }: RelayDeps, call: RelayCall, answer: Response): Headers {
  const headers = answerHeaders(answer.headers);
  const session = answer.headers.get(SESSION);
  // The client's own seal comes back to it as it is, so that the session keeps one id.
  const known = call.headers.get(SESSION);
  if (session !== null) headers.set(SESSION, known ?? sealer.seal(session, belongingOf(call)));
  return headers;
}

type Asking = { headers: Headers; open: OpenToolCall | null };

async function sendToServer(deps: RelayDeps, call: RelayCall, { headers, open }: Asking): Promise<Response> {
  const { server, method, posted, signal } = call;
  try {
    return await deps.askToolServer(server, { method, headers, body: posted?.bytes ?? null, signal });
  } catch (error) {
    await open?.settle(outcomeOfFailure(error));
    throw error;
  }
}

type Answered = { answer: Response; headers: Headers };

/** The answer to a tool call, whose outcome is recorded before the client has received all of it. */
async function recordedAnswer(open: OpenToolCall, { id }: RpcMessage, { answer, headers }: Answered) {
  const { status } = answer;
  if (answer.body && answer.ok && isEventStream(answer.headers)) {
    const answered = (response: Record<string, unknown>) => open.settle(outcomeOf(response));
    const ended = (cause?: unknown) => open.settle({ ...NO_ANSWER, errorCause: reasonIn(cause) });
    const body = watched(answer.body, { id, answered, ended });
    return new Response(body, { status, headers });
  }
  try {
    const bytes = await answer.bytes();
    const response = responseIn(bytes, id) ?? (answer.ok ? null : responseIn(bytes, null));
    if (response) await open.settle(outcomeOf(response));
    else await open.settle(answer.ok ? NO_ANSWER : notTaken(`http_${status}`));
    return new Response(bytes, { status, headers });
  } catch (error) {
    await open.settle(outcomeOfFailure(error));
    throw error;
  }
}

/** A list without the tools that the key may not call. */
async function listed(call: RelayCall, { id }: RpcMessage, { answer, headers }: Answered): Promise<Response> {
  const response = isEventStream(answer.headers)
    ? answer.body && (await responseOf(answer.body, id))
    : responseIn(await answer.bytes(), id);
  const result = response?.["result"];
  if (!response || !isRecord(result) || !Array.isArray(result["tools"])) {
    if (response && "error" in response) return Response.json(response, { headers: json(headers) });
    throw new GatewayError("upstream_broken", "The tool server's answer is not a list of tools.");
  }
  const tools = result["tools"].filter(
    (tool) =>
      isRecord(tool) && typeof tool["name"] === "string" && mayCall(call.key, call.server, tool["name"]),
  );
  // One key's view must not be cached for another.
  const scope = "cacheScope" in result ? { cacheScope: "private" } : {};
  const shown = { ...response, result: { ...result, ...scope, tools } };
  return Response.json(shown, { headers: json(headers) });
}

function json(headers: Headers): Headers {
  headers.set("content-type", "application/json");
  return headers;
}

/** Headers that a tool server gets unchanged; a name ending in `-` is a prefix. */
const TO_SERVER = [
  ...["accept", "content-type", "last-event-id", "mcp-method"],
  ...["mcp-name", "mcp-param-", "mcp-protocol-version"],
];
/** Headers that a client gets unchanged. The session id is replaced by a sealed one. */
const TO_CLIENT = ["allow", "cache-control", "content-type", "retry-after", "x-accel-buffering"];

/** A message was read as UTF-8, so its type goes without parameters. */
function serverHeaders(from: Headers): Headers {
  const headers = kept(from, TO_SERVER);
  if (headers.has("content-type")) headers.set("content-type", "application/json");
  return headers;
}

const answerHeaders = (from: Headers): Headers => kept(from, TO_CLIENT);

function kept(from: Headers, rules: readonly string[]): Headers {
  const headers = new Headers();
  for (const [name, value] of from) {
    if (rules.some((rule) => (rule.endsWith("-") ? name.startsWith(rule) : name === rule))) {
      headers.append(name, value);
    }
  }
  return headers;
}
