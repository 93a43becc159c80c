#!/usr/bin/env -S bun --no-env-file
import { statSync } from "node:fs";
import { Command, InvalidArgumentError } from "commander";
import { reachDirectly } from "#shared/loopback.ts";
import { VERSION } from "#shared/version.ts";
import { printableText } from "./print/printable.ts";

const resources = () => import("./commands/resources.ts");

/** In the order of the help text. */
const COMMANDS: Readonly<Record<string, () => Promise<(program: Command) => unknown>>> = {
  start: async () => (await import("./commands/start.ts")).addStart,
  login: async () => (await import("./commands/login.ts")).addLogin,
  logout: async () => (await import("./commands/login.ts")).addLogout,
  whoami: async () => (await import("./commands/whoami.ts")).addWhoami,
  usage: async () => (await import("./commands/usage.ts")).addOwnUsage,
  budget: async () => (await import("./commands/whoami.ts")).addBudget,
  session: async () => (await import("./commands/session.ts")).addSession,
  run: async () => (await import("./commands/run.ts")).addRun,
  pr: async () => {
    const [{ addPr }, { addPrCost }] = [
      await import("./commands/pr.ts"),
      await import("./commands/pr-cost.ts"),
    ];
    return (program) => addPrCost(addPr(program));
  },
  review: async () => (await import("./commands/review.ts")).addReview,
  install: async () => (await import("./commands/install.ts")).addInstall,
  uninstall: async () => (await import("./commands/install.ts")).addUninstall,
  doctor: async () => (await import("./commands/doctor.ts")).addDoctor,
  key: async () => (await import("./commands/login.ts")).addKey,
  apply: async () => (await import("./commands/apply.ts")).addApply,
  keys: async () => (await import("./commands/keys.ts")).addKeys,
  people: async () => (await import("./commands/people.ts")).addPeople,
  export: async () => (await import("./commands/export.ts")).addExport,
  report: async () => (await import("./commands/report.ts")).addReport,
  backfill: async () => (await import("./commands/backfill.ts")).addBackfill,
  "setup-link": async () => (await import("./commands/links.ts")).addSetupLink,
  "sign-in-link": async () => (await import("./commands/links.ts")).addSignInLink,
  budgets: async () => (await import("./commands/budgets.ts")).addBudgets,
  alerts: async () => (await import("./commands/alerts.ts")).addAlerts,
  digest: async () => (await import("./commands/digest.ts")).addDigest,
  bills: async () => (await import("./commands/bills.ts")).addBills,
  reconcile: async () => (await import("./commands/reconcile.ts")).addReconcile,
  periods: async () => (await import("./commands/periods.ts")).addPeriods,
  statement: async () => (await resources()).addOne("statement"),
  forecast: async () => (await resources()).addOne("forecast"),
  anomalies: async () => (await resources()).addOne("anomalies"),
  seats: async () => (await resources()).addGroup("seats"),
  commitments: async () => (await resources()).addGroup("commitments"),
  "vendor-accounts": async () => (await resources()).addGroup("vendor-accounts"),
  prices: async () => (await resources()).addGroup("prices"),
  discounts: async () => (await resources()).addGroup("discounts"),
  "export-destination": async () => (await resources()).addGroup("export-destination"),
  restate: async () => (await import("./commands/reprice.ts")).addRestate,
  reprice: async () => (await import("./commands/reprice.ts")).addReprice,
  rollups: async () => (await import("./commands/rollups.ts")).addRollups,
  retention: async () => (await import("./commands/retention.ts")).addRetention,
  "move-records": async () => (await import("./commands/move-records.ts")).addMoveRecords,
  backup: async () => (await import("./commands/backup.ts")).addBackup,
  restore: async () => (await import("./commands/backup.ts")).addRestore,
  "move-database": async () => (await import("./commands/backup.ts")).addMoveDatabase,
  spool: async () => (await import("./commands/spool.ts")).addSpool,
  routes: async () => (await import("./commands/routes.ts")).addRoutes,
  completion: async () => (await import("./commands/completion.ts")).addCompletion,
};

/** Exit status for an invalid command line. */
const USAGE = 2;

function existing(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path;
  throw new InvalidArgumentError("No such directory.");
}

reachDirectly();

const program = new Command("tallygate")
  .description("Sessions and pull requests for developers, settings and reports for administrators.")
  .version(VERSION, "--version", "print the version")
  .option("-C, --directory <path>", "run in this directory", existing)
  .showHelpAfterError("(use --help for usage)")
  .enablePositionalOptions()
  .exitOverride(({ exitCode }) => process.exit(exitCode && USAGE))
  .addHelpText("after", "\nExit status: 0 success, 1 failure or a problem found, 2 usage error.");

// An agent's hook runs a command at every step, so only what the command line names is loaded; for help, everything.
const words = process.argv.slice(2);
const named = Object.entries(COMMANDS).filter(([name]) => words.includes(name));
const needsAll = named.length === 0 || ["completion", "help", "--help", "-h"].includes(words[0] ?? "");
for (const [, load] of needsAll ? Object.entries(COMMANDS) : named) (await load())(program);

// A reader such as `head` closes the pipe early; the work still runs to its end. A full disk ends it.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") return;
  process.stderr.write(`The output cannot be written: ${error.message}\n`);
  process.exit(1);
});

try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`${printableText(error instanceof Error ? error.message : "failed")}\n`);
  process.exitCode = 1;
}
