import type { CallToolRequestParams, Tool } from "@modelcontextprotocol/client";
import { SdkErrorCode, SdkHttpError, ProtocolError as ToldError } from "@modelcontextprotocol/client";
import { ProtocolError } from "@modelcontextprotocol/server";
import type { ToolServer } from "../directory.ts";
import { GatewayError } from "../errors.ts";
import { NotConnected } from "./connections.ts";
import { type Hop, type HopDeps, hop, sentParams, toldError } from "./hop.ts";
import { isRecord, protocolErrorOf, RPC } from "./json-rpc.ts";
import type { Lists } from "./lists.ts";
import type { Offer } from "./offer.ts";
import { failedWith, notTaken, type Outcome, outcomeOfFailure, outcomeOfResult } from "./outcome.ts";
import { mayCall } from "./permission.ts";
import type { Running, RunningId } from "./running.ts";
import { externalIdOf, openTally, recordDenied, type TallyDeps, type ToolCall } from "./tally.ts";

export type CallToolDeps = TallyDeps & HopDeps & { lists: Lists; directory: Known; running: Running };
type Known = { current(): { toolServers: ReadonlyMap<string, ToolServer> } };

type Called = { params: CallToolRequestParams; offer: Offer };

type Result = Record<string, unknown>;

/** One call of a tool by the name that the client knows it by, from permission to record. */
export async function callTool(
  deps: CallToolDeps,
  asking: Omit<Hop, "server">,
  { params, offer }: Called,
): Promise<Result> {
  // Permission: a tool that the key may not call answers like one that does not exist
  const split = offer.naming.splitName(params.name);
  const server = offer.servers.find(({ name }) => name === split?.server);
  if (!split || !server || !mayCall(offer.key, server, split.own)) {
    const hidden = split && deps.directory.current().toolServers.get(split.server);
    if (split && hidden) await recordDenied(deps, toolCallOf(asking, hidden, { ...params, name: split.own }));
    throw new ProtocolError(RPC.invalidParams, `Unknown tool: ${params.name.slice(0, 128)}`);
  }

  // Limits and record: from here on the call settles exactly once
  const own = { ...params, name: split.own };
  const tally = await openTally(deps, toolCallOf(asking, server, own)).catch(refused);
  const running = deps.running.enter(runningIdOf(asking));
  const it: Hop = { ...asking, server, signals: [...asking.signals, ...(running ? [running.signal] : [])] };
  try {
    const definition = (await deps.lists.of(server, "tools")).find(({ name }) => name === split.own);
    const result: Result = await hop(deps, it, ({ client, options }) =>
      client.callTool(sentParams(it, client, own), {
        ...options,
        toolDefinition: unchecked(own, definition),
      }),
    );
    await tally.settle(outcomeOfResult(result));
    return withToldUris(result, (uri) => offer.naming.uri(server, uri));
  } catch (error) {
    await tally.settle(outcomeOfError(error));
    throw toldError(deps, it, error);
  } finally {
    running?.leave();
  }
}

/** A client that has an answer under way cannot be told by a status any more. */
function refused(error: unknown): never {
  throw error instanceof GatewayError ? protocolErrorOf(error) : error;
}

const runningIdOf = ({ caller, ctx }: Omit<Hop, "server">): RunningId => ({
  keyId: caller.key.id,
  session: caller.labels.session,
  requestId: ctx.mcpReq.id,
});

const toolCallOf = (
  { caller: { key, labels } }: Omit<Hop, "server">,
  server: ToolServer,
  params: CallToolRequestParams,
): ToolCall => ({ key, labels, server, tool: params.name, externalId: externalIdOf(params) });

/** Its headers are made from its parameters; whether its result holds to its own schema is for the client to say. */
const unchecked = ({ name }: CallToolRequestParams, definition: Tool | undefined): Tool => {
  const { outputSchema: _, ...tool } = definition ?? { name, inputSchema: { type: "object" as const } };
  return tool;
};

function outcomeOfError(error: unknown): Outcome {
  if (error instanceof ToldError) return failedWith(error.code);
  if (error instanceof NotConnected) return notTaken("unreachable");
  if (isRefusedPost(error)) return notTaken(`http_${error.status}`);
  return outcomeOfFailure(error);
}

/** The client library's only error for a message that was answered with a status and no JSON-RPC. */
const isRefusedPost = (error: unknown): error is SdkHttpError =>
  error instanceof SdkHttpError && error.code === SdkErrorCode.ClientHttpNotImplemented;

/** Resources that a result names are read by the names that the client knows them by. */
function withToldUris(result: Result, told: (uri: string) => string): Result {
  const { content } = result;
  if (!Array.isArray(content)) return result;
  const own = (part: unknown) =>
    isRecord(part) && part["type"] === "resource_link" && typeof part["uri"] === "string"
      ? { ...part, uri: told(part["uri"]) }
      : part;
  return { ...result, content: content.map(own) };
}
