import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { listenOn } from "#shared/listen.ts";
import { onStopSignal, sayReady, TAKES_OVER } from "#shared/stop-signal.ts";

/** What a stand-in for a process of the pair does; `STAND_IN_<name>` chooses. */
const BEHAVIOURS = ["serve", "misconfigured", "hang", "no-successor"] as const;

/**
 * Plays a process of the pair: answers `/readyz`, keeps its environment in `<name>.env.json` and what befalls it in
 * `<name>.events`, both in `STAND_IN_DIR`.
 */
export async function standIn(name: string, port: number): Promise<void> {
  const directory = process.env["STAND_IN_DIR"] ?? "";
  const behaviour = BEHAVIOURS.find((it) => it === process.env[`STAND_IN_${name}`]) ?? "serve";
  const happened = (event: string) => appendFileSync(join(directory, `${name}.events`), `${event}\n`);
  writeFileSync(join(directory, `${name}.env.json`), JSON.stringify(process.env));
  happened(`start ${process.pid}`);
  if (behaviour === "misconfigured") {
    process.stderr.write("WEBHOOK_SECRET has an invalid value\n");
    process.exit(78);
  }
  const takesOver = process.env[TAKES_OVER] === "1";
  if (behaviour === "no-successor" && takesOver) process.exit(1);
  onStopSignal(process.env["TALLYGATE_SUPERVISED"] === "1", (reason) => {
    happened(`stop ${reason}`);
    if (behaviour !== "hang") process.exit(0);
  });
  await listenOn({ port, hostname: "127.0.0.1" }, { sharesPort: true, takesOver, processes: 1 }, (options) =>
    Bun.serve({ ...options, fetch: () => new Response(String(process.pid)) }),
  );
  happened(`ready ${process.pid}`);
  sayReady();
}
