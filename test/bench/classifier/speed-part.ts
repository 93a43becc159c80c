import { join } from "node:path";
import { classify, routeOf } from "#gateway/classifier/classify.ts";
import { seededRandom } from "#gateway/classifier/linear.ts";
import { trainModel } from "#gateway/classifier/train.ts";
import { trainInWorker } from "#test/classifier/train-in-worker.ts";
import { longestPause } from "#test/support/longest-pause.ts";
import { draw, readLines } from "./data.ts";
import { route, sharedStarter } from "./measure.ts";
import { report } from "./table.ts";

const ROUTES = 20;
const EXAMPLES = 50;
const CALLS = 2000;

function percentiles(run: (at: number) => void): { p50: number; p99: number } {
  for (let at = 0; at < 300; at++) run(at);
  const times = Array.from({ length: CALLS }, (_, at) => {
    const from = performance.now();
    run(at);
    return performance.now() - from;
  }).sort((a, b) => a - b);
  return { p50: times[CALLS / 2] ?? 0, p99: times[Math.floor(CALLS * 0.99)] ?? 0 };
}

/** How long this thread is held up by `run`, beyond what a timer waits when nothing runs. */
async function heldUpBy(run: () => Promise<unknown>): Promise<number> {
  const idle = await longestPause(Bun.sleep(500));
  return Math.max((await longestPause(run())) - idle, 0);
}

function reportTimes(
  what: string,
  times: { p50: number; p99: number },
  bar: { p50: number; p99: number },
): void {
  report({
    what,
    ours: `${times.p50.toFixed(2)} / ${times.p99.toFixed(2)} ms`,
    bar: `≤ ${bar.p50} / ${bar.p99} ms`,
    met: times.p50 <= bar.p50 && times.p99 <= bar.p99,
  });
}

/** Time and memory with 20 routes of 50 real prompts. Meaningful on an otherwise idle core only. */
export async function speedPart(directory: string): Promise<void> {
  const training = await readLines(directory, "tasktype10_train.jsonl");
  const drawn = [...draw(training, EXAMPLES * 2, seededRandom(5)).values()].flat();
  const routes = Array.from({ length: ROUTES }, (_, at) =>
    route(`team-${at}`, {
      description: `Work of team ${at}`,
      examples: drawn.filter((_text, index) => index % ROUTES === at).slice(0, EXAMPLES),
    }),
  );
  const starter = sharedStarter();
  trainModel({ routes: routes.slice(0, 4), strictness: 0.05 }, starter);
  const used = process.cpuUsage();
  const model = trainModel({ routes, strictness: 0.05 }, starter);
  const { user, system } = process.cpuUsage(used);
  const seconds = (user + system) / 1e6;
  report({
    what: "train + cross-validate 20 × 50, processor time",
    ours: `${seconds.toFixed(2)} s`,
    bar: "≤ 1.5 s",
    met: seconds <= 1.5,
  });
  const held = await heldUpBy(() => trainInWorker({ routes, strictness: 0.05 }, starter));
  report({
    what: "main thread held up by a worker's training",
    ours: `${held.toFixed(1)} ms`,
    bar: "≤ 5 ms",
    met: held <= 5,
  });

  const child = Bun.spawn([process.execPath, join(import.meta.dir, "memory.ts"), directory]);
  const added = Number(await new Response(child.stdout).text());
  report({
    what: "RSS grown by a model from a worker, fresh process",
    ours: `${added} MB`,
    bar: "≤ 80 MB",
    met: added <= 80,
  });
  const prompts = training.map(({ text }) => text);
  const sized = (length: number) =>
    Array.from({ length: 200 }, (_, at) => {
      const joined = prompts.slice(at * 7, at * 7 + 40).join(" ");
      return joined.repeat(Math.ceil(length / joined.length)).slice(0, length);
    });
  const short = sized(100);
  const long = sized(4000);
  const pick = (texts: string[], at: number) => texts[at % texts.length] ?? "";
  reportTimes(
    "score, 100 characters",
    percentiles((at) => routeOf(model, pick(short, at), null)),
    { p50: 0.15, p99: 0.5 },
  );
  reportTimes(
    "score, 4,000 characters",
    percentiles((at) => routeOf(model, pick(long, at), null)),
    { p50: 0.4, p99: 1 },
  );
  reportTimes(
    "with explanation, 4,000 characters",
    percentiles((at) => classify(model, pick(long, at), null)),
    { p50: 0.8, p99: 2 },
  );
}
