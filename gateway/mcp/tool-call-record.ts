import type { Clock } from "#shared/clock.ts";
import { parseDecimal } from "#shared/decimal.ts";
import { newId } from "#shared/ids.ts";
import { isRecord } from "#shared/json.ts";
import { LABEL_MAX, parseLabel, parseSessionId } from "#shared/labels.ts";
import type { CallLabels } from "../call.ts";
import type { ClientKey, Directory, ToolServer } from "../directory.ts";
import { GatewayError } from "../errors.ts";
import { CLIENTS } from "../http/clients.ts";
import { readLabels } from "../http/labels.ts";
import type { LimitDemand } from "../limits/decide.ts";
import { withCallBudgets } from "../limits/key-budgets.ts";
import { type Pico, picoRoundedUp } from "../limits/money.ts";
import type { Recorder } from "../recorder/recorder.ts";
import type { Grant } from "../stores/limits/grants.ts";
import type { Limiter } from "../stores/limits/limiter.ts";
import { type ObservedCall, toolObservation } from "../stores/tools/tool-calls.ts";

import { denied, NO_ANSWER, type Outcome, toolCallCost } from "./outcome.ts";

export type ToolCallDeps = {
  clock: Clock;
  recorder: Pick<Recorder, "openTool" | "settleTool">;
  limiter: Pick<Limiter, "reserve">;
  directory: { current(): Pick<Directory, "callBudgets"> };
};

export type ToolCaller = { key: ClientKey; labels: CallLabels };

/** One tool call, with the server's own name of the tool and without arguments. */
export type ToolCall = ToolCaller & {
  server: ToolServer;
  tool: string;
  /** The agent's own id of the call, also reported by its hooks. */
  externalId: string | null;
  /** The rule that refused the call, or the first observed one that matched. */
  guardrail?: string | null;
};

/** A call in progress. Only the first outcome counts. */
export type OpenToolCall = { settle(outcome: Outcome): Promise<void> };

/** Longest recorded tool name; the protocol's own bound. */
const TOOL_NAME_MAX = 128;

/** Reserved for a tool without a price: the smallest amount, so that it needs a budget with something left. */
const UNKNOWN: Pico = 1n;

/** A tool call needs a free concurrency slot and its price of the budget. */
function demandOf({ server, tool }: ToolCall): LimitDemand {
  const price = toolCallCost(server, tool, { worked: true });
  const usd = price === null ? UNKNOWN : picoRoundedUp(parseDecimal(price));
  return { tokens: 0, usd, minimumUsd: usd };
}

/**
 * Reserves the key's limits and records the start of the call; if no outcome follows, the record stays a call without
 * an answer. A call refused by the limits is recorded as denied.
 * @throws GatewayError rate_limited, budget_exhausted, store_unavailable, cannot_record
 */
export async function openToolCall(deps: ToolCallDeps, call: ToolCall): Promise<OpenToolCall> {
  const { clock, limiter, directory } = deps;
  const id = newId();
  const charged = { routes: [], tags: call.labels.tags };
  const { key } = withCallBudgets(call, directory.current(), charged);
  const grant = await limiter.reserve({ id, key, admittedAt: clock.now(), recorded: true }, () =>
    demandOf(call),
  );
  if (grant instanceof GatewayError) {
    await recordDenied(deps, call, grant.type);
    throw grant;
  }
  try {
    return await opened(deps, { ...call, id }, grant);
  } catch (error) {
    await grant.release();
    throw error;
  }
}

async function opened(
  { clock, recorder }: ToolCallDeps,
  call: ToolCall & { id: string },
  grant: Grant,
): Promise<OpenToolCall> {
  const startedMs = clock.monotonicMs();
  const startedAt = clock.now().toISOString();
  const observation = (outcome: Outcome): ObservedCall =>
    observed(call, outcome, { startedAt, decidedAt: startedAt });
  const begun = toolObservation(observation(NO_ANSWER), call.id);
  await recorder.openTool(begun);
  const settle = async (outcome: Outcome): Promise<void> => {
    const last = {
      ...observation(outcome),
      decidedAt: clock.now().toISOString(),
      latencyMs: outcome.status === "unknown" ? null : Math.round(clock.monotonicMs() - startedMs),
    };
    // From here until the row is stored, the call counts against the budget with its actual cost.
    await grant.settle({ costUsd: last.costUsd, tokens: 0 });
    await recorder.settleTool(toolObservation(last, begun.id));
  };
  let settled: Promise<void> | null = null;
  return {
    settle(outcome) {
      settled ??= settle(outcome);
      return settled;
    },
  };
}

/** Records a call refused before anything was sent; `errorCode` is null if the key's scope refused it. */
export async function recordDenied(
  { clock, recorder }: Pick<ToolCallDeps, "clock" | "recorder">,
  call: ToolCall,
  errorCode: string | null = null,
): Promise<void> {
  const at = clock.now().toISOString();
  await recorder.settleTool(
    toolObservation(observed(call, denied(errorCode), { startedAt: at, decidedAt: at })),
  );
}

function observed(
  { key, labels, server, tool, externalId, guardrail = null }: ToolCall,
  outcome: Outcome,
  times: Pick<ObservedCall, "startedAt" | "decidedAt">,
): ObservedCall {
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
    costUsd: toolCallCost(server, tool, outcome),
    errorCode: outcome.errorCode,
    errorCause: outcome.errorCause,
    guardrail,
  };
}

const CLIENT_INFO = "io.modelcontextprotocol/clientInfo";

type Params = Readonly<Record<string, unknown>>;

/** Members that Codex adds to a tool call. Other clients may use such plain names for anything. */
const codexMeta = (params: Params): Record<string, unknown> => {
  const meta = metaOf(params);
  return "x-codex-turn-metadata" in meta ? meta : {};
};

/** The agent's own id of the call, if it sends one: `tool_use_id` in the hooks of Claude Code and Codex. */
export function externalIdOf(params: Params): string | null {
  const id = metaOf(params)["claudecode/toolUseId"] ?? codexMeta(params)["callId"];
  return typeof id === "string" ? id : null;
}

/** A message's labels. Without `x-client` or a known agent, its client; without a session header, Codex's in it. */
export function labelsOf(headers: Headers, params: Params): CallLabels {
  const { session, ...read } = readLabels(headers, null);
  const named = headers.has("x-session-id") ? null : codexMeta(params)["sessionId"];
  const labels = { ...read, session: session ?? (typeof named === "string" ? parseSessionId(named) : null) };
  if (headers.has("x-client") || CLIENTS.some(({ name }) => name === labels.client)) return labels;
  const info = metaOf(params)[CLIENT_INFO] ?? params["clientInfo"];
  const name = isRecord(info) && typeof info["name"] === "string" ? info["name"] : null;
  return { ...labels, client: parseLabel(name, LABEL_MAX.client) ?? labels.client };
}

const metaOf = (params: Params): Record<string, unknown> =>
  isRecord(params["_meta"]) ? params["_meta"] : {};
