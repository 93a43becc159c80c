import { existsSync } from "node:fs";
import type { Command } from "commander";

export const addStart = (program: Command) =>
  program
    .command("start")
    .description("Start the gateway with its own Postgres and the GitHub App, and keep them running.")
    // Its own help lists the settings.
    .helpOption(false)
    .allowUnknownOption()
    .argument("[words...]")
    .usage("[--help]")
    .action(async (words: string[]) => {
      // A start reads `.env` in this directory; the other commands do not.
      if (existsSync(".env")) process.loadEnvFile();
      process.argv.splice(2, Infinity, ...words);
      await import("../start.ts");
    });
