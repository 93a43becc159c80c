import type { CallLabels } from "../call.ts";
import type { ClientKey } from "../directory.ts";
import { RANK, type Seen, type ToolSighting, toolSighting } from "../stores/tools/tool-calls.ts";
import type { CallEvent } from "./event.ts";

/** Who told of an event, and what the headers say of it. */
export type Teller = { key: ClientKey; labels: CallLabels; headers: Headers };

/** The client that an event is of: what an administrator set up, else what the event says, else who sent it. */
export const clientOf = ({ headers, labels }: Teller, event: CallEvent): string =>
  isSet(headers, "x-client") ? labels.client : (event.client ?? labels.client);

/**
 * `x-session-id` decides alone where it is set, as on every surface. An agent writes an empty one where the variable
 * that its settings name is not set.
 */
export const sessionOf = ({ headers, labels }: Teller, told: string | null): string | null =>
  isSet(headers, "x-session-id") ? labels.session : (told ?? labels.session);

const isSet = (headers: Headers, name: string): boolean => Boolean(headers.get(name)?.trim());

/** What is stored of an event. `id` is the agent's own of the call, null where nobody knows it. */
export function sightingOf(
  teller: Teller,
  event: CallEvent & { status: NonNullable<CallEvent["status"]> },
): ToolSighting {
  const seen: Seen = {
    key: teller.key,
    externalId: event.id,
    startedAt: new Date(Date.parse(event.at) - (event.durationMs ?? 0)).toISOString(),
    channel: "hook",
    status: event.status,
    ...(event.failure && { rank: RANK.failure }),
    decidedAt: event.at,
    userLabel: null,
    client: clientOf(teller, event),
    session: sessionOf(teller, event.session),
    tags: teller.labels.tags,
    server: event.name.server,
    tool: event.name.tool,
    latencyMs: event.durationMs,
    costUsd: null,
    errorCode: null,
  };
  return toolSighting(seen);
}
