import type { CallLabels } from "../call.ts";
import type { ClientKey } from "../directory.ts";
import {
  type ObservedCall,
  RANK,
  type ToolObservation,
  toolObservation,
} from "../stores/tools/tool-calls.ts";
import type { CallEvent } from "./event.ts";

export type HookSender = { key: ClientKey; labels: CallLabels; headers: Headers };

/** The event's client: `x-client`, else the one in the event, else the sender. */
export const clientOf = ({ headers, labels }: HookSender, event: CallEvent): string =>
  isSet(headers, "x-client") ? labels.client : (event.client ?? labels.client);

/** `x-session-id` wins, as on every surface. An empty one counts as absent: agents send it for an unset variable. */
export const sessionOf = ({ headers, labels }: HookSender, reported: string | null): string | null =>
  isSet(headers, "x-session-id") ? labels.session : (reported ?? labels.session);

const isSet = (headers: Headers, name: string): boolean => Boolean(headers.get(name)?.trim());

export function hookObservation(
  sender: HookSender,
  event: CallEvent & { status: NonNullable<CallEvent["status"]> },
): ToolObservation {
  const observed: ObservedCall = {
    key: sender.key,
    externalId: event.id,
    startedAt: new Date(Date.parse(event.at) - (event.durationMs ?? 0)).toISOString(),
    channel: "hook",
    status: event.status,
    ...(event.failure && { rank: RANK.failure }),
    decidedAt: event.at,
    userLabel: null,
    client: clientOf(sender, event),
    session: sessionOf(sender, event.session),
    tags: sender.labels.tags,
    server: event.name.server,
    tool: event.name.tool,
    latencyMs: event.durationMs,
    costUsd: null,
    errorCode: null,
    errorCause: null,
    guardrail: null,
  };
  return toolObservation(observed);
}
