import { join } from "node:path";
import type postgres from "postgres";
import { migrate } from "#drizzle/migrate.ts";
import { HAS_CLICKHOUSE, startClickHouse } from "#test/support/clickhouse.ts";
import { type GatewayProcess, startGateway } from "#test/support/gateway-process.ts";
import { until } from "#test/support/until.ts";
import { startWorkers } from "#test/support/workers-process.ts";
import { startUpstream } from "../overhead/contenders.ts";
import { cpuSecondsOf, runWrk } from "../overhead/measure.ts";
import { type OwnPostgres, ownPostgres } from "../reports/own-postgres.ts";
import { CALL_KINDS, type CallCost, type CallKind } from "./figures.ts";

const MODEL = "gpt-4o-mini";
const CONNECTIONS = 32;
const WARM_UP_SECONDS = 2;

/** So high that no call is refused, and all are counted. */
const LIMITS = {
  requests_per_minute: 10_000_000,
  tokens_per_minute: 1_000_000_000,
  concurrency: 1000,
  budget_usd: "1000000",
  budget_period: "month",
  unpriced: "allow",
};

type Started = GatewayProcess & { workers?(): number[] };
type Place = { directory: string; databaseUrl: string };

const STARTS: Readonly<Partial<Record<CallKind, (place: Place) => Promise<Started>>>> = {
  workers: ({ directory, databaseUrl }) => startWorkers(2, { dataDir: directory, databaseUrl }),
  copied: async ({ directory, databaseUrl }) => {
    const server = await startClickHouse();
    return startGateway({
      dataDir: directory,
      databaseUrl,
      env: { CLICKHOUSE_URL: await server.database() },
    });
  },
};

/** Every kind of call under the load of one client with 32 connections, one kind after the other. */
export async function measureCalls(directory: string, seconds: number): Promise<Record<CallKind, CallCost>> {
  const costs: Partial<Record<CallKind, CallCost>> = {};
  for (const kind of Object.keys(CALL_KINDS) as CallKind[]) {
    if (kind === "copied" && !HAS_CLICKHOUSE) throw new Error("chDB is not installed");
    const place = join(directory, kind);
    const own = await ownPostgres();
    try {
      await migrate(own.url);
      costs[kind] = await measureKind(kind, { place, own, seconds });
    } finally {
      await own.stop();
    }
    console.log(`${kind}: ${JSON.stringify(costs[kind])}`);
  }
  return costs as Record<CallKind, CallCost>;
}

async function measureKind(
  kind: CallKind,
  { place, own, seconds }: { place: string; own: OwnPostgres; seconds: number },
): Promise<CallCost> {
  const start: (place: Place) => Promise<Started> =
    STARTS[kind] ?? (({ directory, databaseUrl }) => startGateway({ dataDir: directory, databaseUrl }));
  const gateway = await start({ directory: place, databaseUrl: own.url });
  const stream = kind === "streamed";
  const upstream = await startUpstream(place, stream);
  try {
    await gateway.admin("PUT", "/providers/bench", {
      kind: "openai-compatible",
      base_url: `${upstream.url}/v1`,
      credential: "sk-bench",
      models: [MODEL],
      allow_private_network: true,
    });
    const { secret } = await gateway.admin<{ secret: string }>("POST", "/keys", {
      name: "bench",
      ...(kind === "limited" ? { limits: LIMITS } : {}),
    });
    const headers = { authorization: `Bearer ${secret}`, "x-session-id": "bench-session", "x-tags": "bench" };
    const under = { name: kind, url: gateway.url, model: MODEL, headers, pids: () => [], stop: gateway.stop };
    const load = { connections: CONNECTIONS, stream, directory: place };
    const warm = await runWrk(under, { ...load, seconds: WARM_UP_SECONDS });
    await untilStored(own.sql, warm.requests);

    const pids = gateway.workers?.() ?? [gateway.pid()];
    const before = { calls: await stored(own.sql), gateway: cpuSecondsOf(pids), postgres: own.cpuMs() };
    const { requests, elapsedSeconds, errors } = await runWrk(under, { ...load, seconds });
    if (errors > 0) throw new Error(`${errors} of ${requests} calls failed`);
    const calls = (await untilStored(own.sql, before.calls + requests)) - before.calls;
    return {
      gateway: round(((cpuSecondsOf(pids) - before.gateway) * 1e6) / calls),
      postgres: round(((own.cpuMs() - before.postgres) * 1000) / calls),
      perSecond: round(requests / elapsedSeconds),
    };
  } finally {
    await gateway.stop();
    await upstream.stop();
  }
}

const round = (value: number): number => Math.round(value * 10) / 10;

async function stored(sql: postgres.Sql): Promise<number> {
  const [row] = await sql<{ n: number }[]>`select count(*)::int as n from requests`;
  return row?.n ?? 0;
}

/** The client's last calls are stored, too, though it did not wait for them: resolves once no more come. */
async function untilStored(sql: postgres.Sql, least: number): Promise<number> {
  let last = -1;
  return until(async () => {
    const now = await stored(sql);
    const isAll = now >= least && now === last;
    last = now;
    if (isAll) return now;
    await Bun.sleep(500);
    return null;
  });
}
