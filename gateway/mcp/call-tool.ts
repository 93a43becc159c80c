import {
  type CallToolRequestParams,
  SdkErrorCode,
  SdkHttpError,
  ProtocolError as ServerError,
  type Tool,
} from "@modelcontextprotocol/client";
import { ProtocolError } from "@modelcontextprotocol/server";
import { isRecord } from "#shared/json.ts";
import type { ToolServer } from "../directory.ts";
import { GatewayError } from "../errors.ts";
import { reasonIn } from "../upstream/failures.ts";
import { type AdmitDeps, admitToolCall } from "./admit-tool-call.ts";
import type { ToolCatalog } from "./catalog.ts";
import { NotConnected } from "./connections.ts";
import { protocolErrorOf, RPC, type RpcMessage } from "./json-rpc.ts";
import type { Lists } from "./lists.ts";
import { failedWith, notTaken, type Outcome, outcomeOfFailure, outcomeOfResult } from "./outcome.ts";
import { mayCall } from "./permission.ts";
import type { RunningId, RunningToolCalls } from "./running-tool-calls.ts";
import {
  forwardedParams,
  requestServer,
  type ServerRequest,
  type ServerRequestDeps,
  toProtocolError,
} from "./server-request.ts";
import { externalIdOf, recordDenied, type ToolCall } from "./tool-call-record.ts";

export type CallToolDeps = AdmitDeps & ServerRequestDeps & { lists: Lists; running: RunningToolCalls };

type Called = { params: CallToolRequestParams; message: RpcMessage; offer: ToolCatalog };

type Result = Record<string, unknown>;

/** Calls one tool by the name that the client uses, from permission to record. */
export async function callTool(
  deps: CallToolDeps,
  request: Omit<ServerRequest, "server">,
  { params, message, offer }: Called,
): Promise<Result> {
  // Permission: a tool that the key may not call answers like one that does not exist
  const split = offer.naming.splitName(params.name);
  const server = offer.servers.find(({ name }) => name === split?.server);
  if (!split || !server || !mayCall(offer.key, server, split.own)) {
    const hidden = split && deps.directory.current().toolServers.get(split.server);
    if (split && hidden)
      await recordDenied(deps, toolCallOf(request, hidden, { ...params, name: split.own }));
    throw new ProtocolError(RPC.invalidParams, `Unknown tool: ${params.name.slice(0, 128)}`);
  }

  // Guardrails, limits and record: from here on the call settles exactly once
  const own = { ...params, name: split.own };
  const admitted = await admitToolCall(deps, toolCallOf(request, server, own), message).catch(refused);
  if (admitted.kind === "denied") return admitted.result;
  const { call } = admitted;
  const running = deps.running.enter(runningIdOf(request));
  const it: ServerRequest = {
    ...request,
    server,
    signals: [...request.signals, ...(running ? [running.signal] : [])],
  };
  try {
    const definition = (await deps.lists.of(server, "tools")).find(({ name }) => name === split.own);
    const result: Result = await requestServer(deps, it, ({ client, options }) =>
      client.callTool(forwardedParams(it, client, own), {
        ...options,
        toolDefinition: unchecked(own, definition),
      }),
    );
    await call.settle(outcomeOfResult(result));
    return withClientUris(result, (uri) => offer.naming.uri(server, uri));
  } catch (error) {
    await call.settle(outcomeOfError(error));
    throw toProtocolError(deps, it, error);
  } finally {
    running?.leave();
  }
}

/** The response has started, so a refusal cannot be an HTTP status. */
function refused(error: unknown): never {
  throw error instanceof GatewayError ? protocolErrorOf(error) : error;
}

const runningIdOf = ({ caller, ctx }: Omit<ServerRequest, "server">): RunningId => ({
  keyId: caller.key.id,
  session: caller.labels.session,
  requestId: ctx.mcpReq.id,
});

const toolCallOf = (
  { caller: { key, labels } }: Omit<ServerRequest, "server">,
  server: ToolServer,
  params: CallToolRequestParams,
): ToolCall => ({ key, labels, server, tool: params.name, externalId: externalIdOf(params) });

/** Without `outputSchema`: the client, not the gateway, validates the result. */
const unchecked = ({ name }: CallToolRequestParams, definition: Tool | undefined): Tool => {
  const { outputSchema: _, ...tool } = definition ?? { name, inputSchema: { type: "object" as const } };
  return tool;
};

function outcomeOfError(error: unknown): Outcome {
  if (error instanceof ServerError) return failedWith(error.code);
  if (error instanceof NotConnected) return notTaken("unreachable", reasonIn(error));
  if (isRefusedPost(error)) return notTaken(`http_${error.status}`);
  return outcomeOfFailure(error);
}

/** How the client library reports an HTTP error without a JSON-RPC body. */
const isRefusedPost = (error: unknown): error is SdkHttpError =>
  error instanceof SdkHttpError && error.code === SdkErrorCode.ClientHttpNotImplemented;

/** Resource links in the result get the URIs under which the client can read them. */
function withClientUris(result: Result, clientUri: (uri: string) => string): Result {
  const { content } = result;
  if (!Array.isArray(content)) return result;
  const own = (part: unknown) =>
    isRecord(part) && part["type"] === "resource_link" && typeof part["uri"] === "string"
      ? { ...part, uri: clientUri(part["uri"]) }
      : part;
  return { ...result, content: content.map(own) };
}
