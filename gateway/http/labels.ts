import { LABEL_MAX, parseLabel, parseSessionId, type SessionId, TAGS_MAX } from "#shared/labels.ts";
import type { CallLabels, HeaderView, JsonBody } from "../call.ts";
import { clientName } from "./clients.ts";
import { utf8Header } from "./header-text.ts";
import { memberValue } from "./scan.ts";
import { readUserId } from "./user-id.ts";

const AGENT_ID_MAX = 128;

/** Agents' own session headers: Claude Code's, opencode's, Codex's. */
const SESSION_HEADERS = [
  "x-claude-code-session-id",
  "x-session-affinity",
  "session-id",
  "session_id",
] as const;

/**
 * The labels of a call. A label over its limit is dropped (decision: Labels are dropped, never shortened). With a null
 * `body`, only headers are read.
 */
export function readLabels(headers: HeaderView, body: JsonBody | null): CallLabels {
  const userId = readUserId(body && memberValue(body, "metadata"));
  return {
    client:
      headerLabel(headers, "x-client", LABEL_MAX.client) ?? clientName(headers.get("user-agent"), headers),
    ...sessionsOf(headers, userId.session),
    tags: tagsOf(headers.get("x-tags")),
    userLabel: userOf(body && memberValue(body, "user")) ?? userId.person,
    agentId: headerLabel(headers, "x-claude-code-agent-id", AGENT_ID_MAX),
    parentAgentId: headerLabel(headers, "x-claude-code-parent-agent-id", AGENT_ID_MAX),
  };
}

const headerLabel = (headers: HeaderView, name: string, max: number): string | null =>
  parseLabel(utf8Header(headers.get(name)), max);

/**
 * If `x-session-id` is present, it alone decides which session counts: a client that sent an invalid one did not mean
 * another header. A sub-agent whose own session it is, as in opencode, counts for its parent's.
 */
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
