import { type Static, Type } from "@sinclair/typebox";
import { closed, nullable, Text, TextOrNull } from "../schema.ts";

const AnyText = nullable(Type.String());

/** One tool call. No member can contain arguments, results or texts. */
export const ToolCallView = closed({
  id: Type.String({ format: "uuid" }),
  external_id: Text("The agent's own id of the call, or else `id`."),
  started_at: Type.String(),
  channel: Text("`mcp` if the tool gateway saw it, otherwise `hook`."),
  status: Text("`ok`, `failed`, `unknown`, `denied` or `pending`."),
  key_id: Type.String({ format: "uuid" }),
  key_name: AnyText,
  owner: AnyText,
  user_label: AnyText,
  team: TextOrNull("The key's team at the time of the call."),
  cost_center: AnyText,
  client: Type.String(),
  session: AnyText,
  tags: Type.Array(Type.String()),
  server: TextOrNull("Null for tools built into the agent."),
  tool: AnyText,
  latency_ms: nullable(Type.Integer()),
  cost_usd: TextOrNull("Exact decimal, USD; null is unknown."),
  error_code: TextOrNull(
    "A protocol code, `http_` and a status (`http_401`: the server refused the gateway's credential), `unreachable`, or the limit that refused the call, or `guardrail_blocked`. Never a message.",
  ),
  error_cause: TextOrNull("Why the server gave no answer, such as `dns` or `reset`."),
  guardrail: TextOrNull("The guardrail that refused the call, or the first observed one that matched."),
});
export type ToolCallView = Static<typeof ToolCallView>;
