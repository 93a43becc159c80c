/**
 * `bun test/bench/github/deliveries.ts [RATE] [SECONDS]`: deliveries at a steady rate to the whole GitHub App in a
 * process of its own, over a Postgres of its own. Prints how long GitHub waits for its 202, and when all is applied.
 */
import { readFileSync } from "node:fs";
import { openDatabase } from "#drizzle/database.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { WEBHOOK_SECRET } from "#test/support/github-app.ts";
import { startFastGithubApp } from "#test/support/github-app-process.ts";
import { pullRequestPayload, reviewPayload, signatureOf } from "#test/support/github-payloads.ts";
import { testDatabase } from "#test/support/postgres.ts";

const [rate = 1000, seconds = 30] = process.argv.slice(2).map(Number);
const REPOSITORIES = 50;
const SLOT_MS = 10;

const own = await testDatabase();
const database = openDatabase(own.url, { name: "bench", max: 2, statementTimeoutMs: 60_000 });
await database.sql`
  insert into settings (org_id, value, updated_at) values (${DEFAULT_ORG}, '{"pull_request_stamping": true}', now())`;
const app = await startFastGithubApp({ DATABASE_URL: own.url, WEBHOOK_SECRET, LOG_LEVEL: "error" });

type Sent = { event: string; body: string; signature: string };

/** Deliveries as GitHub sends them, 20 to 25 kB each: opened, edited, merged, reviewed. Made before the clock runs. */
function deliveries(count: number): Sent[] {
  const bodies: Sent[] = [];
  for (let n = 0; n < count; n++) {
    const repository = { id: 1 + (n % REPOSITORIES), fullName: `octo/r${n % REPOSITORIES}` };
    const common = {
      repository,
      number: 1 + Math.floor(n / REPOSITORIES / 4),
      body: `Gateway-Session: s${n}`,
    };
    const step = Math.floor(n / REPOSITORIES) % 4;
    const [event, payload] =
      step === 3
        ? (["pull_request_review", reviewPayload({ ...common, id: 1 + n })] as const)
        : ([
            "pull_request",
            pullRequestPayload({
              ...common,
              ...(step === 1 ? { action: "edited", formerBody: "x", at: "2026-11-01T11:00:00Z" } : {}),
              ...(step === 2
                ? { action: "closed", mergedAt: "2026-11-01T12:00:00Z", at: "2026-11-01T12:00:00Z" }
                : {}),
            }),
          ] as const);
    const body = JSON.stringify(payload);
    bodies.push({ event, body, signature: signatureOf(body, WEBHOOK_SECRET) });
  }
  return bodies;
}

const times: number[] = [];
const statuses = new Map<number, number>();

async function send({ event, body, signature }: Sent): Promise<void> {
  const start = performance.now();
  const answer = await fetch(app.webhooks, {
    method: "POST",
    body,
    headers: {
      "content-type": "application/json",
      "x-github-event": event,
      "x-github-delivery": crypto.randomUUID(),
      "x-hub-signature-256": signature,
    },
  });
  await answer.arrayBuffer();
  times.push(performance.now() - start);
  statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
}

const applied = async () => {
  const [row] = await database.sql`
    select count(*)::integer as all, (count(*) filter (where processed_at is not null))::integer as done from webhook_inbox`;
  return row as { all: number; done: number };
};

// Payloads repeat after 2,000; ids of deliveries do not.
const pool = deliveries(Math.min(rate * seconds, 2_000));
// A process that has just started is slow for a second; what is asked is how one that runs takes a surge.
const WARM_UP = 3_000;
for (let n = 0; n < WARM_UP; n += 50) {
  await Promise.all(Array.from({ length: 50 }, (_, k) => send(pool[(n + k) % pool.length] as Sent)));
}
times.length = 0;
statuses.clear();

/** Seconds of processor time that the App has used; null where the system does not tell. */
function cpuSeconds(): number | null {
  try {
    const stat = readFileSync(`/proc/${app.pid()}/stat`, "utf8");
    const [user, system] = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .slice(11, 13)
      .map(Number);
    return ((user ?? 0) + (system ?? 0)) / 100;
  } catch {
    return null;
  }
}

const cpuBefore = cpuSeconds();
const start = performance.now();
const pending: Promise<void>[] = [];
let sent = 0;
for (let slot = 0; sent < rate * seconds; slot++) {
  const due = Math.min(rate * seconds, Math.round(((slot + 1) * SLOT_MS * rate) / 1000));
  for (; sent < due; sent++) pending.push(send(pool[sent % pool.length] as Sent));
  await Bun.sleep(Math.max(0, start + (slot + 1) * SLOT_MS - performance.now()));
}
const offered = performance.now() - start;
await Promise.all(pending);
const total = rate * seconds + WARM_UP;
let state = await applied();
const behind = state.all - state.done;
while (state.done < total && performance.now() - start < 300_000) {
  await Bun.sleep(50);
  state = await applied();
}
const all = performance.now() - start;

const sorted = times.toSorted((a, b) => a - b);
const at = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1);
console.log(
  `offered ${sent} deliveries in ${(offered / 1000).toFixed(1)} s (${Math.round(sent / (offered / 1000))}/s)`,
);
console.log(`answers ${[...statuses].map(([status, count]) => `${status}: ${count}`).join(", ")}`);
console.log(
  `acknowledged p50 ${at(0.5)} ms, p90 ${at(0.9)} ms, p99 ${at(0.99)} ms, longest ${at(0.99999)} ms`,
);
console.log(`stored ${state.all}, applied ${state.done}; ${behind} were waiting at the end of the load`);
const cpu = cpuSeconds();
if (cpu !== null && cpuBefore !== null) {
  console.log(
    `the App used ${(((cpu - cpuBefore) * 1000) / sent).toFixed(2)} ms of a processor per delivery`,
  );
}
console.log(`all applied ${((all - offered) / 1000).toFixed(1)} s after it`);

await app.kill();
await database.close();
await own.close();
process.exit(0);
