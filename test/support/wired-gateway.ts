import type postgres from "postgres";
import { connect } from "#drizzle/database.ts";
import type { requests } from "#drizzle/schema/records.ts";
import { atEnd } from "./at-end.ts";
import { scratch } from "./embedded.ts";
import { type GatewayOptions, type GatewayProcess, startGateway } from "./gateway-process.ts";
import { type LocalGateway, localGateway } from "./local-gateway.ts";
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

type Wiring = {
  /** A client key without scopes. */
  secret: string;
  dataDir: string;
  sql: postgres.Sql;
  /** The records of a session, once there are as many as expected. */
  records(session: string, count?: number): Promise<StoredRecord[]>;
  close(): Promise<unknown>;
};

export type WiredGateway = LocalGateway & Wiring;
export type WiredProcess = GatewayProcess & Wiring;
type Upstream = { chat: string; messages: string };
type Env = Record<string, string>;

/**
 * A gateway with one provider of each vendor's kind at the addresses given (`chat` as OpenAI's root, with
 * `/v1`; `messages` as Anthropic's, without), the routes `chat` and `claude` on them, and a client key. Concrete models
 * that begin with `gpt-` and `claude-` reach them too. It runs in this process.
 */
export const wiredGateway = async (upstream: Upstream, env: Env = {}): Promise<WiredGateway> => {
  const { gateway, wiring } = await wired(localGateway, upstream, env);
  return { ...gateway, ...wiring, close: atEnd(() => Promise.all([wiring.close(), gateway.stop()])) };
};

/** The same as a process of its own, for tests about signals, crashes, memory or file descriptors. */
export const wiredProcess = async (upstream: Upstream, env: Env = {}): Promise<WiredProcess> => {
  const { gateway, wiring } = await wired(startGateway, upstream, env);
  return { ...gateway, ...wiring, close: atEnd(() => Promise.all([wiring.close(), gateway.kill()])) };
};

async function wired<G extends Pick<LocalGateway, "admin" | "databaseUrl">>(
  start: (options: GatewayOptions) => Promise<G>,
  upstream: Upstream,
  env: Env,
): Promise<{ gateway: G; wiring: Wiring }> {
  const dataDir = `${scratch().path}/gateway`;
  const gateway = await start({ dataDir, env });
  await provide(gateway, upstream);
  const { secret } = await gateway.admin<{ secret: string }>("POST", "/keys", { name: "suite" });
  const sql = connect(gateway.databaseUrl, { name: "test", max: 1, statementTimeoutMs: 60_000 });
  const wiring: Wiring = {
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
    close: atEnd(() => sql.end({ timeout: 1 })),
  };
  return { gateway, wiring };
}

async function provide(gateway: Pick<LocalGateway, "admin">, upstream: Upstream): Promise<void> {
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
