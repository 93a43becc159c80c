import { LABEL_MAX, parseLabel, parseSessionId, type SessionId, TAGS_MAX } from "#shared/labels.ts";
import type { CallLabels, HeaderView, JsonBody } from "../call.ts";
import { clientName } from "./clients.ts";
import { utf8Header } from "./header-text.ts";
import { memberValue } from "./scan.ts";
import { readUserId } from "./user-id.ts";

const AGENT_ID_MAX = 128;

/** Tools' own session headers, read after `x-session-id`. */
const SESSION_HEADERS = ["x-claude-code-session-id", "session-id", "session_id"] as const;

/**
 * The labels of a call. A label over its limit is dropped (decision: Labels are dropped, never shortened). With a null
 * `body`, only headers are read.
 */
export function readLabels(headers: HeaderView, body: JsonBody | null): CallLabels {
  const userId = readUserId(body && memberValue(body, "metadata"));
  return {
    client:
      headerLabel(headers, "x-client", LABEL_MAX.client) ?? clientName(headers.get("user-agent"), headers),
    session: sessionIdOf(headers) ?? (headers.has("x-session-id") ? null : userId.session),
    tags: tagsOf(headers.get("x-tags")),
    userLabel: userOf(body && memberValue(body, "user")) ?? userId.person,
    agentId: headerLabel(headers, "x-claude-code-agent-id", AGENT_ID_MAX),
    parentAgentId: headerLabel(headers, "x-claude-code-parent-agent-id", AGENT_ID_MAX),
  };
}

const headerLabel = (headers: HeaderView, name: string, max: number): string | null =>
  parseLabel(utf8Header(headers.get(name)), max);

/** If `x-session-id` is present, it alone decides: a client that sent an invalid one did not mean another header. */
function sessionIdOf(headers: HeaderView): SessionId | null {
  if (headers.has("x-session-id")) return parseSessionId(headers.get("x-session-id"));
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
