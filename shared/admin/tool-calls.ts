import { type Static, Type } from "@sinclair/typebox";
import { closed, nullable } from "../schema.ts";

const Text = nullable(Type.String());

/** One tool call. No member can contain arguments, results or texts. */
export const ToolCallView = closed({
  id: Type.String({ format: "uuid" }),
  external_id: Type.String({ description: "The agent's own id of the call, or else `id`." }),
  started_at: Type.String(),
  channel: Type.String({ description: "`mcp` if the tool gateway saw it, otherwise `hook`." }),
  status: Type.String({ description: "`ok`, `failed`, `unknown`, `denied` or `pending`." }),
  key_id: Type.String({ format: "uuid" }),
  key_name: Text,
  owner: Text,
  user_label: Text,
  team: nullable(Type.String({ description: "The key's team at the time of the call." })),
  cost_center: Text,
  client: Type.String(),
  session: Text,
  tags: Type.Array(Type.String()),
  server: nullable(Type.String({ description: "Null for tools built into the agent." })),
  tool: Text,
  latency_ms: nullable(Type.Integer()),
  cost_usd: nullable(Type.String({ description: "Exact decimal, USD; null is unknown." })),
  error_code: nullable(
    Type.String({
      description:
        "A protocol code, `http_` and a status (`http_401`: the server refused the gateway's credential), `unreachable`, or the limit that refused the call, or `guardrail_blocked`. Never a message.",
    }),
  ),
  error_cause: nullable(
    Type.String({ description: "Why the server gave no answer, such as `dns` or `reset`." }),
  ),
  guardrail: nullable(
    Type.String({
      description: "The guardrail that refused the call, or the first observed one that matched.",
    }),
  ),
});
export type ToolCallView = Static<typeof ToolCallView>;
