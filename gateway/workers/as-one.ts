import type { Registry } from "prom-client";
import type { Recorder } from "../recorder/recorder.ts";
import type { DirectoryStore } from "../stores/directory/directory.ts";
import { ALONE, openFellows } from "./fellows.ts";
import { scrapeOfAll } from "./merged-metrics.ts";

/** How long those who need the records of calls that have just ended wait for them at most; reports wait less. */
const SETTLED_MAX_MS = 5000;
/** More rows than this wait after an outage: calls are not held up until they are stored. */
const SOON_ROWS = 5000;

type Own = { directory: DirectoryStore; recorder: Recorder; metrics: Registry };

/** Makes so many workers look like one gateway: what one of them changed, recorded or counted is seen in all. */
export function asOneGateway(workers: number, { directory, recorder, metrics }: Own) {
  const fellows = workers === 1 ? ALONE : openFellows();
  const settled = (hurry?: boolean) => recorder.flushed(SETTLED_MAX_MS, hurry).catch(() => undefined);
  const allSettled = async (hurry?: boolean): Promise<void> => {
    await Promise.all([settled(hurry), fellows.ask("settle")]);
  };
  const { refresh } = directory;
  fellows.answerWith({
    metrics: () => metrics.getMetricsAsJSON(),
    // Without the database now, it follows within two seconds of its return.
    refresh: () => refresh().catch(() => undefined),
    settle: () => settled(),
  });
  return {
    shared: {
      metrics: workers === 1 ? metrics : scrapeOfAll(metrics, fellows),
      directory: {
        ...directory,
        async refresh() {
          await refresh();
          await fellows.ask("refresh");
        },
      },
      settled: allSettled,
      /** Like `settled`, unless that may take long. */
      async settledSoon(): Promise<void> {
        const { cause, backlog } = recorder.stats();
        if (cause === null && backlog <= SOON_ROWS) await allSettled();
      },
    },
    /** Leaves the last figures to the others. Call before the recorder closes. */
    part: () => fellows.part(() => metrics.getMetricsAsJSON()),
  };
}
