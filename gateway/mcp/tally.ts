import type { Clock } from "#shared/clock.ts";
import { newId } from "#shared/ids.ts";
import { LABEL_MAX, parseLabel } from "#shared/labels.ts";
import type { CallLabels } from "../call.ts";
import type { ClientKey, ToolServer } from "../directory.ts";
import { GatewayError } from "../errors.ts";
import { CLIENTS } from "../http/clients.ts";
import { readLabels } from "../http/labels.ts";
import type { Recorder } from "../recorder/recorder.ts";
import type { Grant, Limiter } from "../stores/limits/limiter.ts";
import { type Seen, toolSighting } from "../stores/tools/tool-calls.ts";
import { isRecord } from "./json-rpc.ts";
import { costOf, denied, NO_ANSWER, type Outcome } from "./outcome.ts";

export type TallyDeps = {
  clock: Clock;
  recorder: Pick<Recorder, "openTool" | "settleTool">;
  limiter: Pick<Limiter, "reserve">;
};

/** Who calls, and what they call themselves. */
export type ToolCaller = { key: ClientKey; labels: CallLabels };

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

/** What a call of a tool asks the key's limits for: a place, and a budget that is not used up. */
const ASK = { tokens: 0, usd: 1n, minimumUsd: 1n };

/**
 * Asks the key's limits for a place, and writes down that the call begins. If nothing more is heard of it, that stays as
 * a call without an answer. One that the limits refuse is recorded as denied.
 * @throws GatewayError rate_limited, budget_exhausted, store_unavailable, cannot_record
 */
export async function openTally(deps: TallyDeps, call: ToolCall): Promise<Tally> {
  const { clock, limiter } = deps;
  const asking = { id: newId(), key: call.key, admittedAt: clock.now(), recorded: false };
  const grant = await limiter.reserve(asking, () => ASK);
  if (grant instanceof GatewayError) {
    await recordDenied(deps, call, grant.type);
    throw grant;
  }
  try {
    return await opened(deps, call, grant);
  } catch (error) {
    await grant.release();
    throw error;
  }
}

async function opened({ clock, recorder }: TallyDeps, call: ToolCall, grant: Grant): Promise<Tally> {
  const startedMs = clock.monotonicMs();
  const startedAt = clock.now().toISOString();
  const told = (outcome: Outcome): Seen => seenOf(call, outcome, { startedAt, decidedAt: startedAt });
  const begun = toolSighting(told(NO_ANSWER));
  await recorder.openTool(begun);
  const settle = async (outcome: Outcome): Promise<void> => {
    const seen = {
      ...told(outcome),
      decidedAt: clock.now().toISOString(),
      latencyMs: outcome.status === "unknown" ? null : Math.round(clock.monotonicMs() - startedMs),
    };
    await grant.release();
    await recorder.settleTool(toolSighting(seen, begun.id));
  };
  let settled: Promise<void> | null = null;
  return {
    settle(outcome) {
      settled ??= settle(outcome);
      return settled;
    },
  };
}

/** A call that was refused before anything went to a server; `errorCode` says why, where it was not the key's scope. */
export async function recordDenied(
  { clock, recorder }: Pick<TallyDeps, "clock" | "recorder">,
  call: ToolCall,
  errorCode: string | null = null,
): Promise<void> {
  const at = clock.now().toISOString();
  await recorder.settleTool(toolSighting(seenOf(call, denied(errorCode), { startedAt: at, decidedAt: at })));
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
export function labelsOf(headers: Headers, params: Readonly<Record<string, unknown>>): CallLabels {
  const labels = readLabels(headers, null);
  if (headers.has("x-client") || CLIENTS.some(({ name }) => name === labels.client)) return labels;
  const info = metaOf(params)[CLIENT_INFO] ?? params["clientInfo"];
  const name = isRecord(info) && typeof info["name"] === "string" ? info["name"] : null;
  return { ...labels, client: parseLabel(name, LABEL_MAX.client) ?? labels.client };
}

const metaOf = (params: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  isRecord(params["_meta"]) ? params["_meta"] : {};
