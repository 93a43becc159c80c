import type { HookPolicy } from "../directory.ts";
import type { HookEvent } from "./event.ts";

/** The answer to a native event. Without a denial it is empty: `allow` would skip the user's own permission prompt. */
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

/** The answer to generic events: the denied calls. */
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
