import type { Clock } from "#shared/clock.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { ClientKey, Directory, HookPolicy } from "../directory.ts";
import { GatewayError } from "../errors.ts";
import { requireJsonLimits } from "../http/json-limits.ts";
import { readLabels } from "../http/labels.ts";
import { memberValue, scanJson } from "../http/scan.ts";
import type { Recorder } from "../recorder/recorder.ts";
import { originOf } from "../stores/tools/tool-calls.ts";
import { genericAnswer, nativeAnswer } from "./answer.ts";
import type { CallEvent, HookEvent } from "./event.ts";
import { genericEvents } from "./generic.ts";
import { eventName, nativeEvent } from "./native.ts";
import { denying } from "./policy.ts";
import { clientOf, sessionOf, sightingOf, type Teller } from "./sighting.ts";
import { rememberedTurns } from "./turns.ts";

export type HookDeps = {
  directory: { current(): Pick<Directory, "hookPolicies" | "toolServers"> };
  recorder: Pick<Recorder, "settleTool" | "endSession" | "accepting">;
  clock: Clock;
};

/** Objects, arrays and separators of a body in the generic form, far more than its 100 events have. */
const GENERIC_VALUES_MAX = 50_000;

/**
 * Takes what an agent's hook sent, and gives what the agent is answered. When it resolves, what was told is on the
 * disk, whether Postgres is there or not: agents do not send again.
 * @throws GatewayError invalid_request, too_large; cannot_record while the disk takes nothing.
 */
export function hookReceiver(deps: HookDeps) {
  const turns = rememberedTurns();

  /** The call that a question for permission is about, which does not name it; any other event without an id stays so. */
  function identified({ key }: Teller, event: CallEvent): CallEvent {
    const turn = [originOf(key), event.session, event.turn, event.rawName];
    if (event.id !== null) {
      if (event.status === "pending") turns.remember(turn, event.id);
      return event;
    }
    return { ...event, id: event.status === null ? turns.recall(turn) : null };
  }

  async function record(teller: Teller, event: HookEvent, policy: HookPolicy | null): Promise<void> {
    if (event.kind === "session_end") {
      const session = sessionOf(teller, event.session);
      if (session === null) return;
      const end = { orgId: DEFAULT_ORG, origin: originOf(teller.key), session, endedAt: event.at };
      return deps.recorder.endSession(end);
    }
    const call = identified(teller, event);
    const status = policy ? "denied" : call.status;
    // A call without an id that is only beginning could not be found again when it ends.
    if (status === null || (status === "pending" && call.id === null)) return;
    await deps.recorder.settleTool(
      sightingOf(teller, { ...call, status, failure: call.failure || policy !== null }),
    );
  }

  return async (key: ClientKey, headers: Headers, bytes: Uint8Array): Promise<object> => {
    const { hookPolicies, toolServers } = deps.directory.current();
    const teller: Teller = { key, headers, labels: readLabels(headers, null) };

    // Read: one event of an agent's own, or a list in the generic form
    const { native, events } = readEvents(bytes, deps.clock.now(), (server) => toolServers.has(server));

    // Judge: only what has not happened yet can be denied
    const policies = events.map((event) =>
      event.kind === "call" && event.before
        ? denying(hookPolicies, { ...event, client: clientOf(teller, event) })
        : null,
    );

    // Record, then answer. A denial holds also while the disk takes nothing: the spool keeps a reserve for it.
    const denies = policies.some((policy) => policy !== null);
    if (!denies && !deps.recorder.accepting()) throw new GatewayError("cannot_record");
    await Promise.all(events.map((event, index) => record(teller, event, policies[index] ?? null)));
    return native === null ? genericAnswer(events, policies) : nativeAnswer(native, policies[0] ?? null);
  };
}

type Read = { native: string | null; events: HookEvent[] };

function readEvents(bytes: Uint8Array, now: Date, isRegistered: (server: string) => boolean): Read {
  requireJsonLimits(bytes);
  const body = scanJson(bytes);
  const native = eventName(body);
  if (native !== null) {
    const event = nativeEvent(body, { at: now.toISOString(), isRegistered });
    return { native, events: event ? [event] : [] };
  }
  if (!body.members.has("events")) {
    throw new GatewayError(
      "invalid_request",
      "Expected a hook's own JSON with `hook_event_name`, or `events`.",
    );
  }
  requireJsonLimits(bytes, GENERIC_VALUES_MAX);
  return { native, events: genericEvents(memberValue(body, "events"), { now, isRegistered }) };
}
