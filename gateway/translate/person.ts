/** `user_<hash>_account_<uuid>_session_<uuid>`: how Claude Code wrote it before it wrote JSON. */
const TOOL_ID = /^\{|_session_[0-9a-f-]{36}$/i;

/**
 * The person that `metadata.user_id` names, or null: one that is JSON or ends in a session is telemetry of a tool for
 * its own vendor, and no person (decision: Where session and user come from).
 */
export const personIn = (userId: string): string | null => (TOOL_ID.test(userId.trim()) ? null : userId);
