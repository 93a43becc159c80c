import { isRecord } from "#shared/json.ts";
import type { Directory } from "../directory.ts";
import { ERRORS, GatewayError } from "../errors.ts";
import { evaluateGuardrails, type GuardrailTools } from "../guardrail/evaluate.ts";
import { pace } from "../guardrail/pace.ts";
import { textsOf } from "../guardrail/text.ts";
import { allMembers } from "../http/members.ts";
import type { RpcMessage } from "./json-rpc.ts";
import {
  type OpenToolCall,
  openToolCall,
  recordDenied,
  type ToolCall,
  type ToolCallDeps,
} from "./tool-call-record.ts";

export type AdmitDeps = Omit<ToolCallDeps, "directory"> & {
  directory: { current(): Pick<Directory, "guardrails" | "toolServers" | "callBudgets"> };
  consult: GuardrailTools["consult"];
  guardrailTriggered(rule: string, outcome: "block" | "soft_deny" | "observed"): void;
};

/** A soft denial: a result for the model that called the tool. */
export type DeniedResult = { content: { type: "text"; text: string }[]; isError: true };

export type Admitted = { kind: "open"; call: OpenToolCall } | { kind: "denied"; result: DeniedResult };

/**
 * Guardrails, limits and record of a call that the key may make. After it the call settles exactly once. A refused call is
 * recorded as denied.
 * @throws GatewayError guardrail_blocked, rate_limited, budget_exhausted, store_unavailable, cannot_record
 */
export async function admitToolCall(deps: AdmitDeps, call: ToolCall, message: RpcMessage): Promise<Admitted> {
  const verdict = await judge(deps, call, message);
  for (const rule of verdict.observed) deps.guardrailTriggered(rule, "observed");
  const judged = { ...call, guardrail: verdict.rule };
  if (verdict.kind === "pass") return { kind: "open", call: await openToolCall(deps, judged) };
  deps.guardrailTriggered(verdict.rule, verdict.kind);
  await recordDenied(deps, judged, "guardrail_blocked");
  const text = verdict.message ?? ERRORS.guardrail_blocked.public;
  if (verdict.kind === "block") throw new GatewayError("guardrail_blocked", text);
  return { kind: "denied", result: { content: [{ type: "text", text }], isError: true } };
}

/** The arguments are decoded at most once, and only if a rule reads them. */
async function judge(deps: AdmitDeps, { key, labels, server, tool }: ToolCall, { body }: RpcMessage) {
  let texts: string[] | null = null;
  return await evaluateGuardrails(
    deps.directory.current().guardrails,
    {
      key,
      labels,
      choice: null,
      tool: { server: server.name, name: tool },
      additionalModels: () => [],
      texts: () => (texts ??= textsOf(argumentsIn(allMembers(body)))),
    },
    { pace: pace(deps.clock), consult: deps.consult },
  );
}

/** What the server reads of a call besides the tool's name: all of it is text, whatever its name. */
function* argumentsIn(members: Iterable<readonly [string, unknown]>): Generator<[string, unknown]> {
  for (const [name, value] of members) {
    if (name === "arguments") yield [name, value];
    if (name !== "params" || !isRecord(value)) continue;
    const { name: _tool, _meta, ...given } = value;
    yield ["arguments", given];
  }
}
