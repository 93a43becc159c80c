import { Elysia } from "elysia";
import { type CallerCheck, clientKey } from "../plugins/client-key.ts";
import { jsonBody } from "./model-docs.ts";

const BINARY = { "application/x-protobuf": { schema: { type: "string" as const, format: "binary" } } };
const SIGNALS = ["metrics", "logs", "traces"] as const;

/**
 * `POST /v1/metrics`, `/v1/logs` and `/v1/traces`: where a signed-in Claude Code sends its telemetry. All of it is dropped
 * unread: the gateway measures calls itself, and logs may have prompts. A refusal would be an error of the agent's at each export.
 */
export function agentTelemetry({ callers }: { callers: CallerCheck }) {
  const app = new Elysia({ name: "surface.agent-telemetry" }).use(clientKey(callers));
  for (const signal of SIGNALS) {
    app.post(`/v1/${signal}`, () => new Response(), {
      clientKey: true,
      parse: "none",
      detail: {
        tags: ["Claude Code"],
        summary: `Accept and drop Claude Code's ${signal}`,
        security: [{ clientKey: [] }],
        requestBody: { required: false, content: { ...BINARY, ...jsonBody({}) } },
        responses: {
          "200": { description: "Nothing is read or kept." },
          "401": { description: "No valid client key." },
        },
      },
    });
  }
  return app;
}
