/**
 * `bun test/bench/budgets.ts [--seconds 6] [--rounds 3]`: what a call costs under a key's budget alone, and under budgets of
 * the key, its team and the organisation: CPU of gateway and Postgres, and calls per second, in interleaved rounds.
 * Also a call that no budget concerns, while the others exist. Needs `nginx` and `wrk`.
 */
import { parseArgs } from "node:util";
import { migrate } from "#drizzle/migrate.ts";
import { endFile } from "#test/support/at-end.ts";
import { scratch } from "#test/support/embedded.ts";
import { startGateway } from "#test/support/gateway-process.ts";
import { startUpstream } from "./overhead/contenders.ts";
import { cpuSecondsOf, median, runWrk } from "./overhead/measure.ts";
import { ownPostgres } from "./reports/own-postgres.ts";

const { values } = parseArgs({
  options: { seconds: { type: "string", default: "6" }, rounds: { type: "string", default: "3" } },
});
const [seconds, rounds] = [Number(values.seconds), Number(values.rounds)];
const MODEL = "gpt-4o-mini";
const limits = { budget_usd: "1000000" };
const LEVELS = ["none", "key", "three"] as const;

const directory = scratch().path;
const own = await ownPostgres();
await migrate(own.url);
const gateway = await startGateway({ dataDir: directory, databaseUrl: own.url });
const upstream = await startUpstream(directory, false);
try {
  await gateway.admin("PUT", "/providers/bench", {
    kind: "openai-compatible",
    base_url: `${upstream.url}/v1`,
    credential: "sk-bench",
    models: [MODEL],
    allow_private_network: true,
  });
  await gateway.admin("POST", "/prices", {
    model: MODEL,
    effective_from: "2020-01-01",
    input: "1",
    output: "2",
  });
  await gateway.admin("PUT", "/teams/web", limits);
  const secretOf = async (name: string, facts: object) =>
    (await gateway.admin<{ secret: string }>("POST", "/keys", { name, ...facts })).secret;
  const secrets = {
    none: await secretOf("none", {}),
    key: await secretOf("key", { limits }),
    three: await secretOf("three", { limits, team: "web" }),
  };
  // A tag that these calls have; an organisation's budget would be on the other keys, too.
  await gateway.admin("PUT", "/budgets/tagged", { on: { kind: "tag", id: "three" }, amount_usd: "1000000" });
  const costs = Object.fromEntries(
    LEVELS.map((level) => [level, { cpu: [], perSecond: [] }]),
  ) as unknown as Record<(typeof LEVELS)[number], { cpu: number[]; perSecond: number[] }>;
  for (let round = 0; round <= rounds; round += 1) {
    for (const level of LEVELS) {
      const headers = { authorization: `Bearer ${secrets[level]}`, "x-tags": level };
      const under = {
        name: level,
        url: gateway.url,
        model: MODEL,
        headers,
        pids: () => [],
        stop: gateway.stop,
      };
      const before = cpuSecondsOf([gateway.pid()]) + own.cpuMs() / 1000;
      const { requests, elapsedSeconds, errors } = await runWrk(under, {
        connections: 32,
        stream: false,
        directory,
        seconds: round === 0 ? 2 : seconds,
      });
      if (errors > 0) throw new Error(`${errors} of ${requests} calls failed`);
      // Their records are stored.
      await Bun.sleep(2000);
      const cpu = ((cpuSecondsOf([gateway.pid()]) + own.cpuMs() / 1000 - before) * 1e6) / requests;
      if (round === 0) continue;
      costs[level].cpu.push(cpu);
      costs[level].perSecond.push(requests / elapsedSeconds);
    }
  }
  const rows = LEVELS.map((level) => ({
    budgets: level,
    "CPU µs/call": Math.round(median(costs[level].cpu)),
    "calls/s": Math.round(median(costs[level].perSecond)),
    "× of a key's alone": (median(costs[level].cpu) / median(costs.key.cpu)).toFixed(2),
  }));
  console.table(rows);
} finally {
  await gateway.stop();
  await upstream.stop();
  await own.stop();
}
await endFile();
process.exit(0);
