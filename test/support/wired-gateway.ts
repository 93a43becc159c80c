import type postgres from "postgres";
import { connect } from "#drizzle/database.ts";
import type { requests } from "#drizzle/schema/records.ts";
import { atEnd } from "./at-end.ts";
import { scratch } from "./embedded.ts";
import { type GatewayProcess, startGateway } from "./gateway-process.ts";
import { testDatabase } from "./postgres.ts";
import { until } from "./until.ts";

/** What the gateway presents to providers of both vendors' kinds. */
export const VENDOR_CREDENTIAL = "vendor-credential-of-the-suite";

/** Columns of a record by their names in Postgres. */
export type StoredRecord = {
  session: string | null;
  state: (typeof requests.$inferSelect)["state"];
  status: number | null;
  error_type: string | null;
  error_cause: string | null;
  streamed: boolean;
  attempts: number;
  route: string;
  route_source: string;
  provider: string | null;
  model: string | null;
  provider_request_id: string | null;
  client: string;
  tags: string[];
  user_label: string | null;
  usage_source: string;
  input_tokens: number | null;
  output_tokens: number | null;
  cost_usd: string | null;
  unpriced: boolean;
  partial: boolean;
  dropped_members: number | null;
  latency_ms: number | null;
  ttft_ms: number | null;
};

export type WiredGateway = GatewayProcess & {
  /** A client key without scopes. */
  secret: string;
  dataDir: string;
  sql: postgres.Sql;
  /** The records of a session, once there are as many as expected. */
  records(session: string, count?: number): Promise<StoredRecord[]>;
  close(): Promise<void>;
};

/**
 * A gateway process with one provider of each vendor's kind at the addresses given (`chat` as OpenAI's root, with
 * `/v1`; `messages` as Anthropic's, without), the routes `chat` and `claude` on them, and a client key. Concrete models
 * that begin with `gpt-` and `claude-` reach them too.
 */
export async function wiredGateway(
  upstream: { chat: string; messages: string },
  env: Record<string, string> = {},
): Promise<WiredGateway> {
  const place = scratch();
  const dataDir = `${place.path}/gateway`;
  const database = await testDatabase();
  const gateway = await startGateway({ dataDir, databaseUrl: database.url, env });
  await provide(gateway, upstream);
  const { secret } = await gateway.admin<{ secret: string }>("POST", "/keys", { name: "suite" });
  const sql = connect(gateway.databaseUrl, { name: "test", max: 1, statementTimeoutMs: 60_000 });
  return {
    ...gateway,
    secret,
    dataDir,
    sql,
    records: async (session, count = 1) => {
      let rows: StoredRecord[] = [];
      await until(async () => {
        rows = await sql<StoredRecord[]>`select * from requests where session = ${session} order by id`;
        return rows.length >= count;
      });
      return rows;
    },
    close: atEnd(async () => {
      await sql.end({ timeout: 1 });
      await gateway.kill();
    }),
  };
}

async function provide(gateway: GatewayProcess, upstream: { chat: string; messages: string }): Promise<void> {
  const reachable = { credential: VENDOR_CREDENTIAL, allow_private_network: true, enabled: true };
  await gateway.admin("PUT", "/providers/chat-vendor", {
    kind: "openai",
    base_url: upstream.chat,
    models: ["gpt-*"],
    ...reachable,
  });
  await gateway.admin("PUT", "/providers/messages-vendor", {
    kind: "anthropic",
    base_url: upstream.messages,
    models: ["claude-*"],
    ...reachable,
  });
  for (const [route, provider, model] of [
    ["chat", "chat-vendor", "gpt-4o"],
    ["claude", "messages-vendor", "claude-opus-4-6"],
  ] as const) {
    await gateway.admin("PUT", `/routes/${route}`, { surface: "chat", provider, model });
  }
}
