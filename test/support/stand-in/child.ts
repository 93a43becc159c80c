import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onStopSignal } from "#shared/stop-signal.ts";

/** What a stand-in for a process of the pair does; `STAND_IN_<name>` chooses. */
const BEHAVIOURS = ["serve", "misconfigured", "hang", "die-once"] as const;

/**
 * Plays a process of the pair: answers `/readyz`, keeps its environment in `<name>.env.json` and what befalls it in
 * `<name>.events`, both in `STAND_IN_DIR`.
 */
export function standIn(name: string, port: number): void {
  const directory = process.env["STAND_IN_DIR"] ?? "";
  const behaviour = BEHAVIOURS.find((it) => it === process.env[`STAND_IN_${name}`]) ?? "serve";
  const happened = (event: string) => appendFileSync(join(directory, `${name}.events`), `${event}\n`);
  writeFileSync(join(directory, `${name}.env.json`), JSON.stringify(process.env));
  happened(`start ${process.pid}`);
  if (behaviour === "misconfigured") {
    process.stderr.write("WEBHOOK_SECRET has an invalid value\n");
    process.exit(78);
  }
  onStopSignal(process.env["TALLYGATE_SUPERVISED"] === "1", (reason) => {
    happened(`stop ${reason}`);
    if (behaviour !== "hang") process.exit(0);
  });
  Bun.serve({ port, hostname: "127.0.0.1", fetch: () => new Response("ready") });
}
