/**
 * A process that records calls until it is killed. For each call it prints `o <id>` once open has resolved and
 * `s <id>` once settle has, so that whoever reads its output knows what it was promised.
 */
import { writeSync } from "node:fs";
import { startRecorder } from "#gateway/recorder/recorder.ts";
import { systemClock } from "#shared/clock.ts";
import { createLog } from "#shared/log.ts";
import { openRow, settledRow } from "./recorder-kit.ts";

const [directory = "", databaseUrl = "", workers = "1", pauseMs = "0"] = process.argv.slice(2);
const log = createLog("child", "error");
const recorder = await startRecorder({
  directory,
  databaseUrl,
  sync: "normal",
  bytesMax: 1024 ** 3,
  log,
  clock: systemClock,
});

async function work(): Promise<never> {
  for (;;) {
    const row = openRow();
    await recorder.open(row);
    writeSync(1, `o ${row.id}\n`);
    if (Number(pauseMs) > 0) await Bun.sleep(Math.random() * Number(pauseMs));
    await recorder.settle(settledRow(row));
    writeSync(1, `s ${row.id}\n`);
  }
}

await Promise.all(Array.from({ length: Number(workers) }, work));
