import type { Clock } from "#shared/clock.ts";
import { LABEL_MAX, parseLabel } from "#shared/labels.ts";
import type { Labels } from "../call.ts";
import type { ClientKey, ToolServer } from "../directory.ts";
import { CLIENTS } from "../http/clients.ts";
import { readLabels } from "../http/labels-in.ts";
import type { Recorder } from "../recorder/recorder.ts";
import { type Seen, toolSighting } from "../stores/tools/tool-calls.ts";
import { isRecord } from "./json-rpc.ts";
import { costOf, DENIED, NO_ANSWER, type Outcome } from "./outcome.ts";

export type TallyDeps = { clock: Clock; recorder: Pick<Recorder, "openTool" | "settleTool"> };

/** Who calls, and what they call themselves. */
export type ToolCaller = { key: ClientKey; labels: Labels };

/** One call of a tool, by the server's own name for it. Its arguments are not part of it. */
export type ToolCall = ToolCaller & {
  server: ToolServer;
  tool: string;
  /** The agent's own id of the call, under which its hooks tell of it too. */
  externalId: string | null;
};

/** A call under way. Only the first outcome counts. */
export type Tally = { settle(outcome: Outcome): Promise<void> };

/** Longest name of a tool that is recorded; the protocol's own bound. */
const TOOL_NAME_MAX = 128;

/**
 * Writes down that a call begins. If nothing more is heard of it, that stays as a call without an answer.
 * @throws GatewayError cannot_record
 */
export async function openTally({ clock, recorder }: TallyDeps, call: ToolCall): Promise<Tally> {
  const startedMs = clock.monotonicMs();
  const startedAt = clock.now().toISOString();
  const told = (outcome: Outcome): Seen => seenOf(call, outcome, { startedAt, decidedAt: startedAt });
  const opened = toolSighting(told(NO_ANSWER));
  await recorder.openTool(opened);
  let settled: Promise<void> | null = null;
  return {
    settle(outcome) {
      settled ??= recorder.settleTool(
        toolSighting(
          {
            ...told(outcome),
            decidedAt: clock.now().toISOString(),
            latencyMs: outcome.status === "unknown" ? null : Math.round(clock.monotonicMs() - startedMs),
          },
          opened.id,
        ),
      );
      return settled;
    },
  };
}

/** A call that was refused before anything went to a server. */
export async function recordDenied({ clock, recorder }: TallyDeps, call: ToolCall): Promise<void> {
  const at = clock.now().toISOString();
  await recorder.settleTool(toolSighting(seenOf(call, DENIED, { startedAt: at, decidedAt: at })));
}

function seenOf(
  { key, labels, server, tool, externalId }: ToolCall,
  outcome: Outcome,
  times: Pick<Seen, "startedAt" | "decidedAt">,
): Seen {
  return {
    ...times,
    key,
    externalId,
    channel: "mcp",
    status: outcome.status,
    userLabel: labels.userLabel,
    client: labels.client,
    session: labels.session,
    tags: labels.tags,
    server: server.name,
    tool: parseLabel(tool, TOOL_NAME_MAX),
    latencyMs: null,
    costUsd: costOf(server, tool, outcome),
    errorCode: outcome.errorCode,
  };
}

const CLIENT_INFO = "io.modelcontextprotocol/clientInfo";

/** The agent's own id of the call, where it sends one (Claude Code's hooks call it `tool_use_id`). */
export function externalIdOf(params: Readonly<Record<string, unknown>>): string | null {
  const id = metaOf(params)["claudecode/toolUseId"];
  return typeof id === "string" ? id : null;
}

/**
 * The labels of a message. A client that is neither named by `x-client` nor known by its user agent goes by the name
 * that it gives in the message: user agents of libraries tell nothing.
 */
export function labelsOf(headers: Headers, params: Readonly<Record<string, unknown>>): Labels {
  const labels = readLabels(headers, null);
  if (headers.has("x-client") || CLIENTS.some(({ name }) => name === labels.client)) return labels;
  const info = metaOf(params)[CLIENT_INFO] ?? params["clientInfo"];
  const name = isRecord(info) && typeof info["name"] === "string" ? info["name"] : null;
  return { ...labels, client: parseLabel(name, LABEL_MAX.client) ?? labels.client };
}

const metaOf = (params: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  isRecord(params["_meta"]) ? params["_meta"] : {};
