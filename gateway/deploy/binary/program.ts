/**
 * The compiled program: server and command line in one. Its archive has the npm package, with the packages and the Postgres of
 * its platform. A script of it runs in this very process, so that signals, streams and exit codes are the script's own.
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { isSupervised, readPresent } from "#shared/env.ts";
import { VERSION } from "#shared/version.ts";
import { LOCATE, RUN } from "../../cli/own-program.ts";
import { unpacked } from "./unpacked.ts";

const START = "gateway/cli/start.ts";
const COMMAND_LINE = "gateway/cli/tallygate.ts";

const words = process.argv.slice(2);
const [first, second = ""] = words;
if (first === "--version") {
  process.stdout.write(`${VERSION}\n`);
  process.exit(0);
}
const isStart = first === "start";
// A start reads `.env` in this directory, as `bun run start` does.
if (isStart && existsSync(".env")) process.loadEnvFile();

const root = await files();
if (first === LOCATE) process.stdout.write(pathToFileURL(join(root, second)).href);
else if (first === RUN) await run(second, words.slice(2));
else if (isStart) await run(START, words.slice(1));
else await run(COMMAND_LINE, words);

async function files(): Promise<string> {
  const [archive] = Bun.embeddedFiles;
  if (!archive || !("name" in archive)) throw new Error("This program was built without its files.");
  // A start has a directory of its own, which it shares with its child processes.
  const dataDirectory = readPresent(["DATA_DIR"]).get("DATA_DIR") ?? ".tallygate";
  const instead = isStart || isSupervised() ? resolve(dataDirectory, "cache") : null;
  try {
    const name = String(archive.name);
    return await unpacked({ name, bytes: () => archive.bytes() }, instead);
  } catch (error) {
    const reason = error instanceof Error ? error.message : "an error";
    process.stderr.write(
      `Tallygate cannot unpack its files: ${reason}. Set XDG_CACHE_HOME to a directory of your own with 250 MB free.\n`,
    );
    process.exit(1);
  }
}

async function run(script: string, rest: readonly string[]): Promise<void> {
  process.argv.splice(2, Infinity, ...rest);
  await import(join(root, script));
}
