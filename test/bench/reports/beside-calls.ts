/**
 * What reports cost the calls beside them: the time of paced calls through a gateway, from a process that does nothing
 * else (`beside-callers.ts`), with and without reports asked in loops, in rounds of both by turns, over records of 60 days
 * in an embedded Postgres. Prints the 50th, 95th, 99th and 99.9th percentile, the ratio of each, between what ratios of
 * the 99th nine of ten draws of the rounds lie, and what the gateway's memory was before, meanwhile and after.
 *
 * Who calls and who asks for reports is elsewhere in life, and here on the same cores. So the one that calls runs before
 * all others if it may, and the one that asks only where nothing else wants to run; what it makes the gateway and
 * Postgres do has the priority that they give it. Before the first round the gateway has answered both for a while: its code
 * is compiled then, as in one that has run for long. Calls are counted once reports have used up what they may take at
 * once, and have only their share. A signal to end ends what it has started, and removes its files.
 *
 *   bun test/bench/reports/beside-calls.ts [--records 300000] [--seconds 6] [--rounds 10] [--rate 150] [--loops 4] [--warm 20]
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { connect } from "#drizzle/database.ts";
import { migrate } from "#drizzle/migrate.ts";
import { addMonth, monthOf } from "#drizzle/partitions.ts";
import { openRollups } from "#gateway/stores/reports/rollups.ts";
import { onStopSignal } from "#shared/stop-signal.ts";
import { ask, start } from "#test/support/embedded.ts";
import { type GatewayProcess, startGateway } from "#test/support/gateway-process.ts";
import { percentile } from "./measure.ts";

const { values } = parseArgs({
  options: {
    records: { type: "string", default: "300000" },
    seconds: { type: "string", default: "6" },
    rounds: { type: "string", default: "10" },
    rate: { type: "string", default: "150" },
    loops: { type: "string", default: "4" },
    warm: { type: "string", default: "20" },
  },
});
const seconds = Number(values.seconds);
const loops = Number(values.loops);
const stopping = new AbortController();
onStopSignal(false, () => stopping.abort());

async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "tallygate-beside-"));
  Bun.spawnSync(["chmod", "711", directory]);
  const database = await start(join(directory, "main"));
  let gateway: GatewayProcess | null = null;
  try {
    await migrate(database.url);
    await seed(database.url, Number(values.records));
    gateway = await startGateway({ dataDir: join(directory, "gateway"), databaseUrl: database.url });
    await measured(gateway);
  } finally {
    await gateway?.stop();
    await database.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The milliseconds of each call, by round. */
type Times = Record<"without" | "with", number[][]>;

const DRAWS = 500;
/**
 * How long calls are made before they are counted: the caller's own code is compiled meanwhile, and reports use up what they
 * may take at once beside calls.
 */
const BEFORE_SECONDS = 5;

/** Rounds with and without reports by turns. */
async function measured(gateway: GatewayProcess): Promise<void> {
  const { secret } = await gateway.admin<{ secret: string }>("POST", "/keys", { name: "beside" });
  const called = (forSeconds: number) => paced(gateway.url, secret, forSeconds);
  await called(0);
  const before = memoryOf(gateway.pid());
  const warming = startHammer(gateway.url);
  await called(Math.max(0, Number(values.warm) - BEFORE_SECONDS));
  await warming.stop();
  const times: Times = { without: [], with: [] };
  const loopMs = { without: 0, with: 0 };
  let reports = 0;
  let most = before;
  for (let round = 0; round < Number(values.rounds); round++) {
    // Each round begins with the other of the two, so that what drifts meets both alike.
    const turns = round % 2 === 0 ? (["without", "with"] as const) : (["with", "without"] as const);
    for (const turn of turns) {
      const hammering = turn === "with" ? startHammer(gateway.url) : null;
      const worked = loopMsOf(gateway.pid());
      const taken = await called(seconds);
      most = Math.max(most, memoryOf(gateway.pid()));
      times[turn].push(taken);
      reports += hammering ? await hammering.stop() : 0;
      while ((await ask(gateway.databaseUrl, BUSY)) !== "0") await Bun.sleep(200);
      loopMs[turn] += loopMsOf(gateway.pid()) - worked;
      console.error(`round ${round + 1} ${turn}: p99 ${percentile(taken, 0.99).toFixed(2)} ms`);
      await Bun.sleep(1_000);
    }
  }
  print(times, reports);
  await Bun.sleep(5_000);
  const after = memoryOf(gateway.pid());
  const memory = [before, most, after].map((mebibytes) => mebibytes.toFixed(0));
  console.log(
    `the gateway's memory: ${memory[0]} MiB before, at most ${memory[1]}, ${memory[2]} five seconds after (${(most - before).toFixed(0)} more at most)`,
  );
  const each = (loopMs.with - loopMs.without) / reports;
  console.log(`CPU of the thread that answers calls, per report: ${each.toFixed(1)} ms`);
}

/** Reports that are still being made after their asker has gone. */
const BUSY =
  "select count(*)::text from pg_stat_activity where application_name = 'tallygate reports' and state = 'active'";

/** Records of 60 days, rolled up, as after some time of work. */
async function seed(url: string, records: number): Promise<void> {
  const began = performance.now();
  const sql = connect(url, { name: "bench", max: 1, statementTimeoutMs: 0 });
  for (const daysAgo of [60, 30, 0]) {
    const month = monthOf(new Date(Date.now() - daysAgo * 86_400_000));
    await sql.begin((tx) => addMonth(tx, month));
  }
  await sql.unsafe(SEED, [records]);
  await sql.unsafe("analyze");
  await sql.end();
  const rollups = openRollups({ url });
  await rollups.rebuild(new Date());
  await rollups.close();
  console.error(`${records} records in ${((performance.now() - began) / 1000).toFixed(0)} s`);
}

/** Of 2,000 people, 40 models and 30 clients, a session for each 30 calls. `generate.ts` has more likeness and takes longer. */
const SEED = `
insert into requests (id, started_at, surface, channel, state, streamed, attempts, route, route_source, client, model,
  key_id, owner, session, tags, latency_ms, usage_source, input_tokens, cache_read_tokens, output_tokens, cost_usd,
  token_cost_usd, unpriced, partial)
select gen_random_uuid(), now() - interval '60 days' * (1 - i::float8 / $1::int), 'chat.completions', 'api', 'ok', true, 1,
  'route-' || i % 12, 'model', 'client-' || (i / 30) % 30, 'model-' || (i / 7) % 40,
  ('00000000-0000-7000-8000-0000000000' || (i / 30) % 90 + 10)::uuid, 'person-' || (i / 30) % 2000,
  'session-' || i / 30, '{}', 200 + i % 3000, 'provider', 1000 + i % 5000, i % 900, 100 + i % 700,
  (i % 90000)::numeric / 1000000, (i % 90000)::numeric / 1000000, false, false
from generate_series(1, $1::int) i`;

const CALLERS = join(import.meta.dir, "beside-callers.ts");
function started(before: readonly string[], ...words: string[]) {
  stopping.signal.throwIfAborted();
  return Bun.spawn([...before, process.execPath, CALLERS, ...words], {
    stdout: "pipe",
    stderr: "inherit",
    env: CALM,
    signal: stopping.signal,
  });
}
/** Bun collects garbage every second by itself, for milliseconds, which would count as the gateway's. */
const CALM = { ...process.env, BUN_GC_TIMER_DISABLE: "1" };
/** For all threads of a process. */
const WHERE_FREE = ["nice", "-n", "19", ...(Bun.which("chrt") ? ["chrt", "--idle", "0"] : [])];

/** How long each of the calls took that were made for so many seconds, in milliseconds. */
async function paced(url: string, secret: string, forSeconds: number): Promise<number[]> {
  const words = [values.rate, `${forSeconds}`, `${BEFORE_SECONDS}`];
  return await new Response(started([], "call", url, secret, ...words).stdout).json();
}

function startHammer(url: string): { stop(): Promise<number> } {
  const child = started(WHERE_FREE, "hammer", url, `${loops}`);
  return {
    stop: async () => {
      child.kill("SIGTERM");
      return Number(await new Response(child.stdout).text());
    },
  };
}

/** CPU time of the process's first thread, which runs its event loop; in steps of 10 ms. */
function loopMsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/task/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Resident, in mebibytes. */
const memoryOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;

function print({ without, with: beside }: Times, reports: number): void {
  console.log("| | without reports | with | ratio |");
  console.log("| --- | --- | --- | --- |");
  for (const part of [0.5, 0.95, 0.99, 0.999]) {
    const [one, other] = [percentile(without.flat(), part), percentile(beside.flat(), part)];
    const cells = [`${one.toFixed(2)} ms`, `${other.toFixed(2)} ms`, (other / one).toFixed(3)];
    console.log(`| p${part * 100} | ${cells.join(" | ")} |`);
  }
  const draws = ratiosOf(without, beside);
  const [least, most] = [percentile(draws, 0.05), percentile(draws, 0.95)];
  console.log(
    `nine of ten draws of the rounds have a ratio of p99 of ${least.toFixed(2)} to ${most.toFixed(2)}`,
  );
  // What the machine does by itself: rounds without reports against the others without reports.
  const half = Math.ceil(without.length / 2);
  const [first, last] = [without.slice(0, half), without.slice(half)].map((of) =>
    percentile(of.flat(), 0.99),
  );
  console.log(
    `p99 of the first and the last rounds without reports: ${first?.toFixed(2)} and ${last?.toFixed(2)} ms`,
  );
  console.log(
    `calls: ${without.flat().length} without, ${beside.flat().length} with, in ${without.length} rounds of each`,
  );
  const each = reports / (beside.length * (seconds + BEFORE_SECONDS));
  console.log(`payloads of one built-in report meanwhile: ${reports}, ${each.toFixed(1)} a second`);
}

/** Ratios of the 99th percentile, each of as many pairs of rounds as there are, drawn with repetition. */
function ratiosOf(without: Times["without"], beside: Times["with"]): number[] {
  return Array.from({ length: DRAWS }, () => {
    const drawn = without.map(() => Math.floor(Math.random() * without.length));
    const of = (rounds: number[][]) =>
      percentile(
        drawn.flatMap((round) => rounds[round] ?? []),
        0.99,
      );
    return of(beside) / of(without);
  });
}

try {
  await main();
} catch (error) {
  if (!stopping.signal.aborted) throw error;
  process.exitCode = 130;
}
