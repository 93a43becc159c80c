/**
 * `bun test/bench/budgets.ts [--seconds 6] [--rounds 3] [--former CHECKOUT]`: what a call of one key costs without limits, with
 * all limits, and with all limits under budgets of its team and of a tag, too: CPU of gateway and Postgres, and calls per
 * second, in interleaved rounds; of another checkout's gateway beside it. Needs `nginx` and `wrk`.
 */
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { migrate } from "#drizzle/migrate.ts";
import { endFile } from "#test/support/at-end.ts";
import { scratch } from "#test/support/embedded.ts";
import { startGateway } from "#test/support/gateway-process.ts";
import { startUpstream } from "./overhead/contenders.ts";
import { cpuSecondsOf, median, runWrk } from "./overhead/measure.ts";
import { ownPostgres } from "./reports/own-postgres.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "6" },
    rounds: { type: "string", default: "3" },
    former: { type: "string" },
  },
});
const [seconds, rounds] = [Number(values.seconds), Number(values.rounds)];
const MODEL = "gpt-4o-mini";
const budget = { budget_usd: "1000000" };
const ALL = {
  ...budget,
  requests_per_minute: 10_000_000,
  tokens_per_minute: 1_000_000_000,
  concurrency: 1000,
};
const LEVELS = { none: {}, limits: { limits: ALL }, three: { limits: ALL, team: "web" } };

const directory = scratch().path;
const upstream = await startUpstream(directory, false);

/** A gateway with a Postgres of its own, and a key for each level. */
async function opened(name: string, main?: string) {
  const own = await ownPostgres();
  await migrate(own.url);
  const dataDir = join(directory, name);
  const gateway = await startGateway({ dataDir, databaseUrl: own.url, ...(main ? { main } : {}) });
  await gateway.admin("PUT", "/providers/bench", {
    kind: "openai-compatible",
    base_url: `${upstream.url}/v1`,
    credential: "sk-bench",
    models: [MODEL],
    allow_private_network: true,
  });
  const price = { model: MODEL, effective_from: "2020-01-01", input: "1", output: "2" };
  await gateway.admin("POST", "/prices", price);
  await gateway.admin("PUT", "/teams/web", budget);
  // A tag that these calls have; an organisation's budget would be on the other keys, too.
  const on = { kind: "tag", id: "three" };
  await gateway.admin("PUT", "/budgets/tagged", { on, amount_usd: "1000000" });
  const levels = [];
  for (const [level, facts] of Object.entries(LEVELS)) {
    const { secret } = await gateway.admin<{ secret: string }>("POST", "/keys", { name: level, ...facts });
    const headers = { authorization: `Bearer ${secret}`, "x-tags": level, "x-session-id": "bench-session" };
    levels.push({ name: `${name}-${level}`, url: gateway.url, model: MODEL, headers });
  }
  const cpu = () => [cpuSecondsOf([gateway.pid()]) * 1e6, own.cpuMs() * 1000] as const;
  const stop = async () => {
    await gateway.stop();
    const [left] = await own.sql`select count(*)::int as holds from limit_holds`;
    await own.stop();
    if (left?.["holds"] !== 0) throw new Error(`${left?.["holds"]} calls are held for ever`);
  };
  return { levels: levels.map((level) => ({ ...level, pids: () => [], stop })), cpu, stop };
}

const gateways = [await opened("now")];
try {
  if (values.former) gateways.push(await opened("former", resolve(values.former, "gateway/main.ts")));
  const costs = new Map<string, { gateway: number; postgres: number; perSecond: number }[]>();
  for (let round = 0; round <= rounds; round += 1) {
    for (const { levels, cpu } of gateways) {
      for (const level of levels) {
        const before = cpu();
        const load = { connections: 32, stream: false, directory, seconds: round === 0 ? 2 : seconds };
        const { requests, elapsedSeconds, errors } = await runWrk(level, load);
        if (errors > 0) throw new Error(`${errors} of ${requests} calls failed`);
        // Their records are stored.
        await Bun.sleep(2000);
        const [gateway = 0, postgres = 0] = cpu().map((now, at) => (now - (before[at] ?? 0)) / requests);
        if (round === 0) continue;
        const known = costs.get(level.name) ?? [];
        costs.set(level.name, [...known, { gateway, postgres, perSecond: requests / elapsedSeconds }]);
      }
    }
  }
  const middle = (name: string, of: "gateway" | "postgres" | "perSecond") =>
    median((costs.get(name) ?? []).map((cost) => cost[of]));
  const rows = [...costs.keys()].map((name) => {
    const plain = name.replace(/-.*/, "-none");
    const times = (of: "gateway" | "postgres" | "perSecond") =>
      `${middle(name, of).toFixed(0)} (× ${(middle(name, of) / middle(plain, of)).toFixed(2)})`;
    return {
      key: name,
      "gateway, µs": times("gateway"),
      "Postgres, µs": times("postgres"),
      "calls/s": times("perSecond"),
    };
  });
  console.table(rows);
} finally {
  for (const { stop } of gateways) await stop();
  await upstream.stop();
}
await endFile();
process.exit(0);
