import { isUtf8 } from "node:buffer";
import { parsedJson } from "#shared/json.ts";
import { LABEL_MAX, parseLabel, parseSessionId, type SessionId, TAGS_MAX } from "#shared/labels.ts";
import type { CallLabels, HeaderView, JsonBody } from "../call.ts";
import { clientName, SESSION_HEADERS } from "./clients.ts";
import { memberValue } from "./scan.ts";

const AGENT_ID_MAX = 128;

/** A call's labels; one over its limit is dropped (decision: Labels are dropped, never shortened). `body` null: headers only. */
export function readLabels(headers: HeaderView, body: JsonBody | null): CallLabels {
  const userId = readUserId(body && memberValue(body, "metadata"));
  return {
    ...sessionsOf(headers, userId.session),
    client:
      headerLabel(headers, "x-client", LABEL_MAX.client) ?? clientName(headers.get("user-agent"), headers),
    tags: tagsOf(headers.get("x-tags")),
    userLabel: userOf(body && memberValue(body, "user")) ?? userId.person,
    agentId: headerLabel(headers, "x-claude-code-agent-id", AGENT_ID_MAX),
    parentAgentId: headerLabel(headers, "x-claude-code-parent-agent-id", AGENT_ID_MAX),
  };
}

const headerLabel = (headers: HeaderView, name: string, max: number): string | null =>
  parseLabel(utf8Header(headers.get(name)), max);

/** `x-session-id` alone decides if present, even when invalid. A sub-agent's own session counts for its parent's. */
function sessionsOf(
  headers: HeaderView,
  inBody: SessionId | null,
): Pick<CallLabels, "session" | "agentSession" | "parentSession"> {
  const own = ownSession(headers) ?? inBody;
  const parentSession = parseSessionId(headers.get(PARENT_HEADER));
  const given = headers.has("x-session-id") ? parseSessionId(headers.get("x-session-id")) : own;
  const session = given !== null && given === own ? (parentSession ?? given) : given;
  return { session, agentSession: own === session ? null : own, parentSession };
}

const PARENT_HEADER = "x-parent-session-id";

function ownSession(headers: HeaderView): SessionId | null {
  for (const name of SESSION_HEADERS) {
    const session = parseSessionId(headers.get(name));
    if (session) return session;
  }
  return null;
}

/** The first `TAGS_MAX` distinct tags, in the order sent. */
function tagsOf(header: string | null): string[] {
  const tags = new Set<string>();
  for (const part of header?.split(",") ?? []) {
    const tag = parseLabel(utf8Header(part), LABEL_MAX.tag);
    if (tag !== null) tags.add(tag);
    if (tags.size === TAGS_MAX) break;
  }
  return [...tags];
}

const userOf = (user: unknown): string | null =>
  typeof user === "string" ? parseLabel(user, LABEL_MAX.user) : null;

const ASCII = /^[ -~]*$/;

/**
 * Decodes a header's value. Bun delivers header bytes as Latin-1; most tools send UTF-8, so bytes that are valid UTF-8
 * are decoded as such. Others stay Latin-1, the default of HTTP libraries that encode header text.
 */
export function utf8Header(value: string | null): string | null {
  if (value === null || ASCII.test(value)) return value;
  const bytes = Buffer.from(value, "latin1");
  const fromTheWire = bytes.toString("latin1") === value;
  return fromTheWire && isUtf8(bytes) ? bytes.toString("utf8") : value;
}

/** The content of `metadata.user_id`: a session, a person, or neither. Never both. */
type UserId = { session: SessionId | null; person: string | null };

const NOTHING: UserId = { session: null, person: null };

/** `user_<hash>_account_<uuid>_session_<uuid>`: Claude Code's format before it sent JSON. */
const LEGACY = /_session_([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/i;

/** A `user_id` that is JSON or ends in a session is telemetry; any other is the person that the application acts for. */
function readUserId(metadata: unknown): UserId {
  const userId = textMember(metadata, "user_id")?.trim();
  if (!userId) return NOTHING;
  if (userId.startsWith("{"))
    return { session: parseSessionId(textMember(parsedJson(userId), "session_id")), person: null };
  const legacy = LEGACY.exec(userId)?.[1];
  if (legacy) return { session: parseSessionId(legacy), person: null };
  return { session: null, person: parseLabel(userId, LABEL_MAX.user) };
}

function textMember(value: unknown, name: string): string | null {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return null;
  const member: unknown = Reflect.get(value, name);
  return typeof member === "string" ? member : null;
}
