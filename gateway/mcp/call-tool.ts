import type { CallToolRequestParams, Tool } from "@modelcontextprotocol/client";
import { ProtocolError as ToldError } from "@modelcontextprotocol/client";
import { ProtocolError } from "@modelcontextprotocol/server";
import type { ToolServer } from "../directory.ts";
import { GatewayError } from "../errors.ts";
import { NotConnected } from "./connections.ts";
import { type Hop, type HopDeps, hop, sentParams, toldError } from "./hop.ts";
import { isRecord, RPC } from "./json-rpc.ts";
import type { Lists } from "./lists.ts";
import { joinedUri } from "./offer.ts";
import { failedWith, NO_ANSWER, notTaken, type Outcome, outcomeOfResult } from "./outcome.ts";
import { mayCall, splitName } from "./permission.ts";
import type { Running, RunningId } from "./running.ts";
import { externalIdOf, openTally, recordDenied, type TallyDeps, type ToolCall } from "./tally.ts";

export type CallToolDeps = TallyDeps & HopDeps & { lists: Lists; directory: Known; running: Running };
type Known = { current(): { toolServers: ReadonlyMap<string, ToolServer> } };

type Called = {
  params: CallToolRequestParams;
  /** The server of that name, where the key may use anything of it. */
  to(name: string): ToolServer | null;
};

type Result = Record<string, unknown>;

/** One call of a tool by the name that `/mcp` gives it, from permission to record. */
export async function callTool(
  deps: CallToolDeps,
  asking: Omit<Hop, "server">,
  { params, to }: Called,
): Promise<Result> {
  // Permission: a tool that the key may not call answers like one that does not exist
  const split = splitName(params.name);
  const server = split && to(split.server);
  if (!split || !server || !mayCall(asking.caller.key, server, split.name)) {
    const hidden = split && deps.directory.current().toolServers.get(split.server);
    if (split && hidden)
      await recordDenied(deps, toolCallOf(asking, hidden, { ...params, name: split.name }));
    throw new ProtocolError(RPC.invalidParams, `Unknown tool: ${params.name.slice(0, 128)}`);
  }

  // Record: from here on the call settles exactly once
  const own = { ...params, name: split.name };
  const tally = await openTally(deps, toolCallOf(asking, server, own));
  const running = deps.running.enter(runningIdOf(asking));
  const signal = running ? AbortSignal.any([asking.signal, running.signal]) : asking.signal;
  const it: Hop = { ...asking, server, signal };
  try {
    const definition = (await deps.lists.of(server, "tools")).find(({ name }) => name === split.name);
    const result: Result = await hop(deps, it, ({ client, options }) =>
      client.callTool(sentParams(it, client, own), {
        ...options,
        toolDefinition: unchecked(own, definition),
      }),
    );
    await tally.settle(outcomeOfResult(result));
    return withOwnUris(server, result);
  } catch (error) {
    await tally.settle(outcomeOfError(error));
    throw toldError(deps, it, error);
  } finally {
    running?.leave();
  }
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
  return error instanceof GatewayError && error.type === "upstream_unreachable"
    ? notTaken("unreachable")
    : NO_ANSWER;
}

/** Resources that a result names are read at `/mcp` under the names that it gives them. */
function withOwnUris(server: ToolServer, result: Result): Result {
  const { content } = result;
  if (!Array.isArray(content)) return result;
  const own = (part: unknown) =>
    isRecord(part) && part["type"] === "resource_link" && typeof part["uri"] === "string"
      ? { ...part, uri: joinedUri(server, part["uri"]) }
      : part;
  return { ...result, content: content.map(own) };
}
