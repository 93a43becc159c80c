import type { Clock } from "#shared/clock.ts";
import { matchesGlob } from "#shared/glob.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { ClientKey, Directory, HookPolicy } from "../directory.ts";
import { GatewayError, refuse } from "../errors.ts";
import { HOOK } from "../http/deciding-names.ts";
import { requireJsonLimits } from "../http/json-limits.ts";
import { readLabels } from "../http/labels.ts";
import { memberValue, scanJson } from "../http/scan.ts";
import type { Recorder } from "../recorder/recorder.ts";
import { callOrigin } from "../stores/tools/tool-calls.ts";
import type { CallEvent, HookEvent, ToolName } from "./event.ts";
import { genericEvents } from "./generic.ts";
import { eventName, nativeEvent } from "./native.ts";
import { clientOf, type HookSender, hookObservation, sessionOf } from "./observation.ts";

export type HookDeps = {
  directory: { current(): Pick<Directory, "hookPolicies" | "toolServers"> };
  recorder: Pick<Recorder, "settleTool" | "endSession" | "accepting">;
  clock: Clock;
};

/** Maximum of objects, arrays and separators in a generic body; 100 events need far fewer. */
const GENERIC_VALUES_MAX = 50_000;

/**
 * Handles an agent's hook events and returns the answer. When it resolves, the events are on disk, even without
 * Postgres: agents do not retry.
 * @throws GatewayError invalid_request, too_large; cannot_record while the disk is full.
 */
export function hookReceiver(deps: HookDeps) {
  const turns = recentCalls();

  /** Permission requests do not name their call: its id is found by the turn. */
  function identified({ key }: HookSender, event: CallEvent): CallEvent {
    const turn = [callOrigin(key), event.session, event.turn, event.rawName];
    if (event.id !== null) {
      if (event.status === "pending") turns.remember(turn, event.id);
      return event;
    }
    return { ...event, id: event.status === null ? turns.recall(turn) : null };
  }

  async function record(sender: HookSender, event: HookEvent, policy: HookPolicy | null): Promise<void> {
    if (event.kind === "session_end") {
      const session = sessionOf(sender, event.session);
      if (session === null) return;
      const end = { orgId: DEFAULT_ORG, origin: callOrigin(sender.key), session, endedAt: event.at };
      return deps.recorder.endSession(end);
    }
    const call = identified(sender, event);
    const status = policy ? "denied" : call.status;
    // A pending call without an id could never be matched with its end.
    if (status === null || (status === "pending" && call.id === null)) return;
    await deps.recorder.settleTool(
      hookObservation(sender, { ...call, status, failure: call.failure || policy !== null }),
    );
  }

  return async (key: ClientKey, headers: Headers, bytes: Uint8Array): Promise<object> => {
    const { hookPolicies, toolServers } = deps.directory.current();
    const sender: HookSender = { key, headers, labels: readLabels(headers, null) };

    // Read: one native event, or a list in the generic form
    const { native, events } = readEvents(bytes, deps.clock.now(), (server) => toolServers.has(server));

    // Judge: only a call that has not run yet can be denied
    const policies = events.map((event) =>
      event.kind === "call" && event.before
        ? denying(hookPolicies, { ...event, client: clientOf(sender, event) })
        : null,
    );

    // Record, then answer. Denials also work with a full disk: the spool keeps a reserve for them.
    const denies = policies.some((policy) => policy !== null);
    if (!denies && !deps.recorder.accepting()) throw new GatewayError("cannot_record");
    await Promise.all(events.map((event, index) => record(sender, event, policies[index] ?? null)));
    return native === null ? genericAnswer(events, policies) : nativeAnswer(native, policies[0] ?? null);
  };
}

type Read = { native: string | null; events: HookEvent[] };

function readEvents(bytes: Uint8Array, now: Date, isRegistered: (server: string) => boolean): Read {
  requireJsonLimits(bytes);
  const body = scanJson(bytes, HOOK);
  const native = eventName(body);
  if (native !== null) {
    const event = nativeEvent(body, { at: now.toISOString(), isRegistered });
    return { native, events: event ? [event] : [] };
  }
  if (!body.members.has("events")) refuse("Expected a hook's own JSON with `hook_event_name`, or `events`.");
  requireJsonLimits(bytes, GENERIC_VALUES_MAX);
  return { native, events: genericEvents(memberValue(body, "events"), { now, isRegistered }) };
}

/** The answer to a native event. Without a denial it is empty: `allow` would skip the user's own permission prompt. */
function nativeAnswer(event: string, policy: HookPolicy | null): object {
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
function genericAnswer(events: readonly HookEvent[], policies: readonly (HookPolicy | null)[]) {
  const decisions = events.flatMap((event, index) => {
    const policy = policies[index];
    if (!policy || event.kind !== "call") return [];
    return [{ id: event.id, decision: "deny", reason: policy.reason }];
  });
  return decisions.length > 0 ? { decisions } : {};
}

/** Entries kept; each is a few short strings. */
const CALLS_MAX = 20_000;

/** Ids of recent calls by turn: an agent requests permission without the id. If absent, a denial is its own row. */
function recentCalls(max = CALLS_MAX) {
  const calls = new Map<string, string>();
  return {
    remember(turn: readonly (string | null)[], id: string): void {
      calls.set(JSON.stringify(turn), id);
      if (calls.size <= max) return;
      const oldest = calls.keys().next();
      if (!oldest.done) calls.delete(oldest.value);
    },
    recall: (turn: readonly (string | null)[]): string | null => calls.get(JSON.stringify(turn)) ?? null,
  };
}

type RequestedToolCall = { client: string; name: ToolName; rawName: string };

/** The first policy by name that denies a call. `tool`: its own or the agent's name; with `server`, never a built-in. */
export const denying = (policies: readonly HookPolicy[], call: RequestedToolCall): HookPolicy | null =>
  policies.find(
    ({ client, tool, server }) =>
      fits(client, call.client) &&
      (fits(tool, call.rawName) || (call.name.tool !== null && fits(tool, call.name.tool))) &&
      (server === null || (call.name.server !== null && fits(server, call.name.server))),
  ) ?? null;

const fits = (glob: string | null, text: string): boolean => glob === null || matchesGlob(glob, text);
