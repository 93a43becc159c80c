import { reportRunner } from "#gateway/reporting.ts";
import { BUILT_IN } from "../reports/built-in.ts";
import { NOW } from "../reports/filled.ts";
import { percentile, seconds } from "../reports/measure.ts";
import type { StoreFigures } from "./figures.ts";

type Times = Pick<StoreFigures, "slowestMs" | "fastestMs"> & {
  /** Runs the slowest report once more. */
  runSlowest(): Promise<unknown>;
};

/** The 95th percentile of each built-in report with its comparison. `work` gets the slowest and the fastest one. */
export async function withReportTimes<Result>(
  places: { url: string; clickhouseUrl?: string },
  rounds: number,
  work: (times: Times) => Promise<Result>,
): Promise<Result> {
  const runner = reportRunner(places);
  try {
    const reports: { id: string; ms: number; run(): Promise<unknown> }[] = [];
    for (const { id, spec } of BUILT_IN) {
      const run = () => runner.run(spec, NOW);
      // The first one fetches what it reads.
      await run();
      const ms: number[] = [];
      for (let round = 0; round < rounds; round++) ms.push((await seconds(run)) * 1000);
      reports.push({ id, run, ms: Math.round(percentile(ms, 0.95)) });
    }
    const sorted = reports.toSorted((a, b) => a.ms - b.ms);
    const [fastest, slowest] = [sorted[0], sorted.at(-1)];
    if (!fastest || !slowest) throw new Error("there is no built-in report");
    console.log(`reports in ms, p95: ${sorted.map(({ id, ms }) => `${id} ${ms}`).join(", ")}`);
    return await work({ slowestMs: slowest.ms, fastestMs: fastest.ms, runSlowest: slowest.run });
  } finally {
    await runner.close();
  }
}
