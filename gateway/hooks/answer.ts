import type { HookPolicy } from "../directory.ts";
import type { HookEvent } from "./event.ts";

/**
 * What an agent is told that sent an event of its own. Without a policy that denies the call it is nothing: `allow`
 * would skip the person's own say.
 */
export function nativeAnswer(event: string, policy: HookPolicy | null): object {
  if (!policy) return {};
  if (event === "PermissionRequest") {
    const decision = { behavior: "deny", message: policy.reason };
    return { hookSpecificOutput: { hookEventName: event, decision } };
  }
  if (event === "BeforeTool") return { decision: "deny", reason: policy.reason };
  return {
    hookSpecificOutput: {
      hookEventName: event,
      permissionDecision: "deny",
      permissionDecisionReason: policy.reason,
    },
  };
}

/** What the sender of the generic form is told: the calls that are denied, where there are any. */
export function genericAnswer(
  events: readonly HookEvent[],
  policies: readonly (HookPolicy | null)[],
): { decisions?: object[] } {
  const decisions = events.flatMap((event, index) => {
    const policy = policies[index];
    if (!policy || event.kind !== "call") return [];
    return [{ id: event.id, decision: "deny", reason: policy.reason }];
  });
  return decisions.length > 0 ? { decisions } : {};
}
