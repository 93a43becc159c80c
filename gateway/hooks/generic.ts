import { type Static, Type } from "@sinclair/typebox";
import { TOOL_STATUSES, type ToolStatus } from "#drizzle/schema/tools.ts";
import { readInstant } from "#shared/admin/fields.ts";
import { LABEL_MAX, parseLabel, parseSessionId } from "#shared/labels.ts";
import { checked, faultsOf, fits, matching, oneOf, open } from "#shared/schema.ts";
import { GatewayError, refuse } from "../errors.ts";
import { type CallEvent, readDuration, readToolName } from "./event.ts";

/** Events of one call. */
const EVENTS_MAX = 100;
/** How far an event's own time may be from now. */
const AHEAD_MAX_MS = 24 * 3_600_000;
const BEHIND_MAX_MS = 30 * AHEAD_MAX_MS;

/** The call's status for each decision that an agent makes before it. */
const DECISIONS: Readonly<Record<string, ToolStatus>> = { allow: "pending", ask: "pending", deny: "denied" };

const Id = matching("^[\\u0021-\\u007e]{1,128}$", "1 to 128 printable ASCII characters without a space", {
  description: "Unique within the key's owner.",
});

/** One event of the generic form. Further members are ignored, and null is absent. */
const Event = open({
  id: Id,
  session_id: Type.Optional(Type.String()),
  client: Type.Optional(Type.String()),
  tool: Type.String({ minLength: 1 }),
  server: Type.Optional(Type.String()),
  status: Type.Optional(oneOf(TOOL_STATUSES)),
  decision: Type.Optional(oneOf(["allow", "ask", "deny"] as const)),
  ts: Type.Optional(
    checked<string | number>(
      { type: ["string", "number"], description: "When it happened: RFC 3339, or milliseconds since 1970." },
      "an RFC 3339 date-time or milliseconds since 1970, at most 30 days old and 24 hours ahead",
      (value) => typeof value === "string" || typeof value === "number",
    ),
  ),
  duration_ms: Type.Optional(
    checked<number>(
      { type: "number", minimum: 0 },
      "milliseconds, 0 to 2147483647",
      (value) => readDuration(value) !== null,
    ),
  ),
});
type Event = Static<typeof Event>;

export const GenericBody = open({ events: Type.Array(Event, { maxItems: EVENTS_MAX }) });

/**
 * The calls in a generic body. The same id is always the same call.
 * @throws GatewayError invalid_request naming the first faulty member.
 */
export function genericEvents(
  events: unknown,
  { now, isRegistered }: { now: Date; isRegistered: (server: string) => boolean },
): CallEvent[] {
  const body = { events: Array.isArray(events) ? events.map(withoutNulls) : events };
  const [fault] = faultsOf(GenericBody, body);
  if (fault) refuse(`${fault.path}: ${fault.message}.`);
  if (!fits(GenericBody, body)) throw new GatewayError("invalid_request");
  return (body.events as Event[]).map((event, index) => {
    const faulty = (member: string, reason: string) =>
      new GatewayError("invalid_request", `/events/${index}/${member}: ${reason}.`);
    const status = event.status ?? DECISIONS[event.decision ?? ""];
    if (!status) throw faulty("status", "Expected a status or a decision");
    const at = timeOf(event.ts, now);
    if (at === null) throw faulty("ts", "Expected a time in the last 30 days");
    return {
      kind: "call",
      id: event.id,
      turn: null,
      name: readToolName(event.tool, event.server, isRegistered),
      rawName: event.tool,
      session: parseSessionId(event.session_id),
      client: parseLabel(event.client, LABEL_MAX.client),
      status,
      before: status === "pending",
      failure: false,
      at,
      durationMs: event.duration_ms === undefined ? null : readDuration(event.duration_ms),
    };
  });
}

/** Many languages write null for absent members. */
const withoutNulls = (event: unknown): unknown =>
  typeof event === "object" && event !== null && !Array.isArray(event)
    ? Object.fromEntries(Object.entries(event).filter(([, value]) => value !== null))
    : event;

function timeOf(ts: Event["ts"], now: Date): string | null {
  if (ts === undefined) return now.toISOString();
  const atMs = typeof ts === "number" ? ts : readInstant(ts);
  if (atMs === null || !Number.isFinite(atMs)) return null;
  const behindMs = now.getTime() - atMs;
  return behindMs > BEHIND_MAX_MS || behindMs < -AHEAD_MAX_MS ? null : new Date(atMs).toISOString();
}
