// bun test/bench/overload.ts [seconds]: ten times the load that a provider with a limit of calls in flight can take.
import { sleep } from "bun";
import { scratch } from "#test/support/embedded.ts";
import { startGateway } from "#test/support/gateway-process.ts";
import { scriptedUpstream } from "#test/support/scripted-upstream.ts";

const SECONDS = Number(process.argv[2] ?? 10);
const ANSWER_MS = 200;
const IN_FLIGHT = 20;
/** Calls a second that the provider can take. */
const CAPACITY = (IN_FLIGHT * 1000) / ANSWER_MS;

const upstream = await scriptedUpstream(async ({ body }, reply) => {
  await sleep(ANSWER_MS);
  const { model } = JSON.parse(body);
  const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 };
  const message = { role: "assistant", content: "done" };
  reply.json({ id: "c", object: "chat.completion", model, choices: [{ index: 0, message }], usage });
});
const gateway = await startGateway({ dataDir: scratch().path });
await gateway.admin("PUT", "/providers/slow", {
  kind: "openai-compatible",
  base_url: `${upstream.url}/v1`,
  allow_private_network: true,
  models: ["slow"],
  in_flight_max: IN_FLIGHT,
});
const { secret } = await gateway.admin<{ secret: string }>("POST", "/keys", { name: "bench" });
const body = JSON.stringify({ model: "slow", messages: [{ role: "user", content: "hello" }] });

type Measured = { status: number; ms: number };

async function one(): Promise<Measured> {
  const begun = performance.now();
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body,
  });
  await answer.arrayBuffer();
  return { status: answer.status, ms: performance.now() - begun };
}

/** Open loop: calls begin at their time, whether earlier ones have ended or not. */
async function load(perSecond: number): Promise<Measured[]> {
  const under: Promise<Measured>[] = [];
  const begun = performance.now();
  while (performance.now() - begun < SECONDS * 1000) {
    const due = ((performance.now() - begun) / 1000) * perSecond;
    while (under.length < due) under.push(one());
    await sleep(5);
  }
  return Promise.all(under);
}

function say(name: string, all: readonly Measured[]): void {
  const p99 = (status: number) => {
    const times = all.filter((it) => it.status === status).map(({ ms }) => ms);
    const sorted = times.toSorted((a, b) => a - b);
    return `${times.length} × ${status}, p99 ${sorted[Math.floor(sorted.length * 0.99)]?.toFixed(0) ?? "-"} ms`;
  };
  process.stdout.write(`${name}: ${p99(200)}; ${p99(503)}\n`);
}

say("half of the capacity", await load(CAPACITY / 2));
say("ten times the capacity", await load(CAPACITY * 10));
await gateway.stop();
process.exit(0);
