#!/usr/bin/env -S bun --no-env-file
import { statSync } from "node:fs";
import { Command, InvalidArgumentError } from "commander";
import { reachDirectly } from "#shared/env.ts";
import { addApply } from "./commands/apply.ts";
import { addBackfill } from "./commands/backfill.ts";
import { addCompletion } from "./commands/completion.ts";
import { addDigest } from "./commands/digest.ts";
import { addDoctor } from "./commands/doctor.ts";
import { addInstall } from "./commands/install.ts";
import { addKeys } from "./commands/keys.ts";
import { addPr } from "./commands/pr.ts";
import { addReport } from "./commands/report.ts";
import { addReprice } from "./commands/reprice.ts";
import { addReview } from "./commands/review.ts";
import { addRollups } from "./commands/rollups.ts";
import { addRoutes } from "./commands/routes.ts";
import { addRun } from "./commands/run.ts";
import { addSession } from "./commands/session.ts";
import { addSetupLink } from "./commands/setup-link.ts";
import { addSignInLink } from "./commands/sign-in-link.ts";
import { addSpool } from "./commands/spool.ts";

/** Exit status for an invalid command line. */
const USAGE = 2;

function existing(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path;
  throw new InvalidArgumentError("No such directory.");
}

reachDirectly();

const program = new Command("tallygate")
  .description("Sessions and pull requests for developers, settings and reports for administrators.")
  .option("-C, --directory <path>", "run in this directory", existing)
  .showHelpAfterError("(use --help for usage)")
  .enablePositionalOptions()
  .exitOverride(({ exitCode }) => process.exit(exitCode && USAGE))
  .addHelpText("after", "\nExit status: 0 success, 1 failure or a problem found, 2 usage error.");

for (const add of [
  addSession,
  addRun,
  addPr,
  addReview,
  addInstall,
  addDoctor,
  addApply,
  addKeys,
  addReport,
  addBackfill,
  addSetupLink,
  addSignInLink,
  addDigest,
  addReprice,
  addRollups,
  addSpool,
  addRoutes,
  addCompletion,
]) {
  add(program);
}

// A reader such as `head` closes the pipe early; the work still runs to its end.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});

try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : "failed"}\n`);
  process.exitCode = 1;
}
