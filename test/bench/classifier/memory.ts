/**
 * How much a process grows by holding a model that a worker trained (20 routes of 50 texts) and scoring 500 texts by it.
 * Run in a process of its own by the speed part: only there the figure means something. Prints megabytes.
 */
import { routeOf } from "#gateway/classifier/classify.ts";
import { trainInWorker } from "#test/classifier/train-in-worker.ts";
import { readLines } from "./data.ts";
import { route } from "./measure.ts";

const [directory = ""] = process.argv.slice(2);
const texts = (await readLines(directory, "tasktype10_train.jsonl")).map(({ text }) => text);
const routes = Array.from({ length: 20 }, (_, at) =>
  route(`team-${at}`, { examples: texts.slice(at * 50, at * 50 + 50) }),
);
Bun.gc(true);
const before = process.memoryUsage().rss;
const model = await trainInWorker({ routes, strictness: 0.05 });
for (const text of texts.slice(0, 500)) routeOf(model, text, null);
await Bun.sleep(1000);
Bun.gc(true);
console.log(((process.memoryUsage().rss - before) / 2 ** 20).toFixed(0));
