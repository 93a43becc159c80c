import type postgres from "postgres";
import { connect } from "#drizzle/database.ts";
import { newId } from "#shared/ids.ts";
import { atEnd } from "#test/support/at-end.ts";
import { scratch } from "#test/support/embedded.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";
import { until } from "#test/support/until.ts";
import { startToolServer, type TestToolServer } from "./server.ts";

export const TOOL_CREDENTIAL = "credential-of-a-tool-server";

type StoredToolCall = {
  status: string;
  server: string;
  tool: string;
  client: string;
  session: string | null;
  tags: string[];
  channel: string;
  external_id: string;
  cost_usd: string | null;
  error_code: string | null;
  error_cause: string | null;
  latency_ms: number | null;
};

export type ToolGateway = LocalGateway & {
  sql: postgres.Sql;
  dataDir: string;
  /** `old` speaks the revisions with sessions only, `new` the stateless one only. */
  servers: { old: TestToolServer; new: TestToolServer };
  key(scopes?: object): Promise<string>;
  /** The calls of a session, once there are as many as expected. */
  calls(session: string, count: number): Promise<StoredToolCall[]>;
  close(): Promise<void>;
};

/** A gateway process with a server of each era behind it. */
export async function startToolGateway(env: Record<string, string> = {}): Promise<ToolGateway> {
  const place = scratch();
  const dataDir = `${place.path}/gateway`;
  const servers = { old: startToolServer({ eras: "legacy" }), new: startToolServer({ eras: "modern" }) };
  const gateway = await localGateway({ dataDir, env });
  for (const [name, { url }] of Object.entries(servers)) {
    await gateway.admin("POST", "/mcp-servers", {
      name,
      url,
      credential: TOOL_CREDENTIAL,
      price_per_call: "0.002",
      prices: { echo: "0.0000001" },
      allow_private_network: true,
    });
  }
  const sql = connect(gateway.databaseUrl, { name: "test", max: 1, statementTimeoutMs: 60_000 });
  return {
    ...gateway,
    sql,
    dataDir,
    servers,
    key: async (scopes = {}) =>
      (await gateway.admin<{ secret: string }>("POST", "/keys", { name: newId(), scopes })).secret,
    calls: async (session, count) => {
      let rows: StoredToolCall[] = [];
      await until(async () => {
        rows = await sql<StoredToolCall[]>`select * from tool_calls where session = ${session} order by id`;
        return rows.length >= count;
      });
      return rows;
    },
    close: atEnd(async () => {
      await sql.end();
      await gateway.stop();
      await Promise.all([servers.old.stop(), servers.new.stop()]);
      place.remove();
    }),
  };
}
