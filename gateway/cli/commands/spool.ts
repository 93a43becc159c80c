import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { Type } from "@sinclair/typebox";
import type { Command } from "commander";
import { systemClock } from "#shared/clock.ts";
import { readEnv } from "#shared/env.ts";
import { optional, text } from "#shared/env-forms.ts";
import { counted } from "#shared/plural.ts";
import { type DamageReport, lostText } from "../../recorder/recovery/damage-report.ts";
import { inspectSpool, type SpoolFile } from "../../recorder/recovery/inspect.ts";
import { recoverFile, recoverInPlace } from "../../recorder/recovery/recover-by-hand.ts";
import { tableText } from "../print/table.ts";
import { directoryOf, print, printAs } from "./common.ts";

export function addSpool(program: Command): void {
  const spool = program
    .command("spool")
    .description("Inspect and recover the files that hold records until Postgres has them.");
  spool
    .command("inspect")
    .description("List the files and their contents. Changes nothing; exit status 1 if one is damaged.")
    .option(...DIRECTORY)
    .option("--json", "print JSON")
    .action(inspect);
  spool
    .command("recover")
    .argument("[file]", "a spool file, such as a kept .damaged.db (default: every damaged file in the spool)")
    .description("Recover what can be read. The next gateway to use the directory stores it.")
    .option(...DIRECTORY)
    .addHelpText("after", HELP)
    .action(recover);
}

const DIRECTORY = ["--spool <dir>", "the spool's directory (SPOOL_DIR, else DATA_DIR/spool)"] as const;

const HELP = `
Gateways do this automatically when they take over a damaged file. The damaged original is kept beside
the recovered one, as <name>.damaged.db; delete it when you no longer need it. Records already in Postgres
are not stored twice.`;

const Place = Type.Object({
  SPOOL_DIR: optional(text("a directory", () => true)),
  DATA_DIR: text("a directory", () => true, ".tallygate"),
});

type Options = { spool?: string; json?: true };

/** @throws Error if there is no such directory. */
function spoolDirectory({ spool }: Options, command: Command): string {
  const { SPOOL_DIR, DATA_DIR } = readEnv(Place);
  const directory = resolve(directoryOf(command), spool ?? SPOOL_DIR ?? join(DATA_DIR, "spool"));
  if (existsSync(directory)) return directory;
  throw new Error(`There is no spool in ${directory}. Name it with --spool, or set SPOOL_DIR or DATA_DIR.`);
}

function inspect(options: Options, command: Command): void {
  const files = inspectSpool(spoolDirectory(options, command));
  if (files.some(({ state }) => state === "damaged")) process.exitCode = 1;
  printAs(options.json, files, tableOf);
}

const tableOf = (files: readonly SpoolFile[]): string =>
  files.length === 0
    ? "The spool is empty."
    : tableText(
        ["file", "state", "bytes", "records", "calls under way", "remarks"],
        files.map(cellsOf),
        isRight,
      );

const isRight = (column: number): boolean => column >= 2 && column <= 4;

function cellsOf(file: SpoolFile): string[] {
  const first = [file.name, file.state, String(file.bytes)];
  if (file.state === "in use") return [...first, "", "", "a running gateway writes it"];
  if (file.state === "kept") {
    return [
      ...first,
      "",
      "",
      file.report === null ? "damaged original" : `damaged original: ${summary(file.report)}`,
    ];
  }
  const remarks = [
    ...(file.why === null ? [] : [`${file.why}; lost: ${lostText(file)}`]),
    ...(file.parked === 0 ? [] : [`${file.parked} parked`]),
  ];
  return [...first, String(file.settled), String(file.running), remarks.join("; ")];
}

const summary = (report: DamageReport): string =>
  `${counted(report.recovered, "record")} recovered, lost: ${lostText(report)}`;

function recover(file: string | undefined, options: Options, command: Command): void {
  const directory = spoolDirectory(options, command);
  const now = systemClock.now().toISOString();
  print(
    file === undefined
      ? recoverAll(directory, now).join("\n")
      : `${file}: ${summary(recoverFile(resolve(directoryOf(command), file), directory, now))}`,
  );
}

function recoverAll(directory: string, now: string): string[] {
  const damaged = inspectSpool(directory).filter(({ state }) => state === "damaged");
  if (damaged.length === 0) return ["No file of the spool is damaged."];
  return damaged.map(({ name }) => {
    const report = recoverInPlace(directory, name.replace(/\.db$/, ""), now);
    return `${name}: ${report === null ? "in use by a gateway" : summary(report)}`;
  });
}
