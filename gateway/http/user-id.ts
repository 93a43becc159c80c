import { LABEL_MAX, parseLabel, parseSessionId, type SessionId } from "#shared/labels.ts";

/** The content of `metadata.user_id`: a session, a person, or neither. Never both. */
export type UserId = { session: SessionId | null; person: string | null };

const NOTHING: UserId = { session: null, person: null };

/** `user_<hash>_account_<uuid>_session_<uuid>`: Claude Code's format before it sent JSON. */
const LEGACY = /_session_([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/i;

/**
 * Reads the body's `metadata`. A `user_id` that is JSON or ends in a session is a tool's telemetry and identifies no
 * person; any other is the person for whom the application acts.
 */
export function readUserId(metadata: unknown): UserId {
  const userId = textMember(metadata, "user_id")?.trim();
  if (!userId) return NOTHING;
  if (userId.startsWith("{")) return { session: sessionInJson(userId), person: null };
  const legacy = LEGACY.exec(userId)?.[1];
  if (legacy) return { session: parseSessionId(legacy), person: null };
  return { session: null, person: parseLabel(userId, LABEL_MAX.user) };
}

function textMember(value: unknown, name: string): string | null {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return null;
  const member: unknown = Reflect.get(value, name);
  return typeof member === "string" ? member : null;
}

function sessionInJson(text: string): SessionId | null {
  try {
    return parseSessionId(textMember(JSON.parse(text), "session_id"));
  } catch {
    return null;
  }
}
