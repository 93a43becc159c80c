import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { merged, retired } from "#gateway/workers/merged-metrics.ts";
import { isMetrics, type Metrics } from "#gateway/workers/messages.ts";

const ROOT = join(import.meta.dir, "../..");

/** What a worker answers that has answered `calls` calls in a second each and is `age` seconds behind. */
async function figures(calls: number, age: number): Promise<Metrics> {
  const registry = new Registry();
  const registers = [registry];
  new Counter({ name: "calls_total", help: "Calls.", registers }).inc(calls);
  new Gauge({ name: "in_flight", help: "In flight.", aggregator: "sum", registers }).set(calls);
  new Gauge({ name: "oldest_seconds", help: "Oldest.", aggregator: "max", registers }).set(age);
  const seconds = new Histogram({ name: "seconds", help: "Seconds.", buckets: [2], registers });
  for (let n = 0; n < calls; n++) seconds.observe(1);
  // As it arrives over a channel.
  const all: unknown = JSON.parse(JSON.stringify(await registry.getMetricsAsJSON()));
  if (!isMetrics(all)) throw new Error("these are no metrics");
  return all;
}

const lineOf = (text: string, name: string) =>
  text.split("\n").find((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));

test("counters, histograms and amounts add up; of ages the greatest counts", async () => {
  const text = await merged([await figures(3, 7), await figures(4, 2)]).metrics();
  expect(lineOf(text, "calls_total")).toBe("calls_total 7");
  expect(lineOf(text, "in_flight")).toBe("in_flight 7");
  expect(lineOf(text, "oldest_seconds")).toBe("oldest_seconds 7");
  expect(lineOf(text, "seconds_count")).toBe("seconds_count 7");
  expect(lineOf(text, "seconds_bucket")).toBe('seconds_bucket{le="2"} 7');
});

test("what workers that ended had counted stays, time and again; their present state does not", async () => {
  const first = await retired([await figures(3, 7)]);
  const dead = await retired([first, await figures(5, 9)]);
  const text = await merged([await figures(1, 1), dead]).metrics();
  expect(lineOf(text, "calls_total")).toBe("calls_total 9");
  expect(lineOf(text, "seconds_count")).toBe("seconds_count 9");
  expect(lineOf(text, "in_flight")).toBe("in_flight 1");
  expect(lineOf(text, "oldest_seconds")).toBe("oldest_seconds 1");
});

test("each gauge says how those of several workers make one", async () => {
  const silent: string[] = [];
  for await (const file of new Bun.Glob("gateway/**/*.ts").scan(ROOT)) {
    for (const [gauge] of readFileSync(join(ROOT, file), "utf8").matchAll(/new Gauge\(\{.*?registers:/gs))
      if (!/aggregator: "(sum|max)"|\.\.\.facts/.test(gauge)) silent.push(file);
  }
  expect(silent).toEqual([]);
});
