import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { Command } from "commander";
import { existingCluster } from "#drizzle/embedded/location.ts";
import { readBackup, writeBackup } from "#drizzle/transfer/backup.ts";
import { moveDatabase } from "#drizzle/transfer/move.ts";
import { partName } from "#drizzle/transfer/parts.ts";
import { type BroughtBack, type Restored, restoreBackup } from "#drizzle/transfer/restore.ts";
import { counted } from "#shared/plural.ts";
import { isPostgresUrl } from "#shared/postgres-url.ts";
import { adminApi } from "../client/api.ts";
import { START_COMMAND } from "../own-program.ts";
import { progressDisplay } from "../print/progress.ts";
import { directoryOf, parser, print, requireReadable } from "./common.ts";
import { answering, ownDatabase, withDatabase } from "./database-here.ts";

const HERE = `DATABASE_URL, or the database of the installation in DATA_DIR`;

const EXAMPLE = "postgres://user:password@host:5432/database";
const parsePostgresUrl = parser(`An address such as ${EXAMPLE} is expected.`, (text) =>
  isPostgresUrl(text) ? text : null,
);

export const addBackup = (program: Command) =>
  program
    .command("backup")
    .argument("<file>", "the file to write")
    .description(
      "Write the whole database to one file, while the gateway runs, and check it by restoring it.",
    )
    .option("--no-check", "do not restore it into a temporary database")
    .addHelpText(
      "after",
      `
Reads ${HERE}.
The master key is not in the file. Keep DATA_DIR/master-key (or MASTER_KEY) elsewhere: without it, stored
credentials and captured bodies cannot be read. Sign-ins under way and copies in ClickHouse are not in it either.`,
    )
    .action(backup);

export const addRestore = (program: Command) =>
  program
    .command("restore")
    .argument("<file>", "a file that backup has written")
    .description("Restore a backup, compare it, and say what it brings back.")
    .option("--to <url>", "the database to restore into", parsePostgresUrl)
    .option("--replace", "replace the installation that the database has")
    .addHelpText(
      "after",
      `
Restores into --to, or ${HERE}. Stop the gateway and the GitHub App first.
Without --replace, a database with an installation stays as it is, and you see what a restore would bring
back: keys and tokens that were revoked since, people who were disabled since.`,
    )
    .action(restore);

export const addMoveDatabase = (program: Command) =>
  program
    .command("move-database")
    .description("Move the installation to another database, and compare every row.")
    .option("--to <url>", "move there, from the database here", parsePostgresUrl)
    .option("--from <url>", "move here, from that database", parsePostgresUrl)
    .addHelpText(
      "after",
      `
Here is ${HERE}.
Stop the gateway and the GitHub App first. An interrupted move continues where it stopped. Each table and each
month of records counts as moved once both databases have the same rows. Nothing is deleted.`,
    )
    .action(move);

async function backup(name: string, { check }: { check: boolean }, command: Command): Promise<void> {
  const file = resolve(directoryOf(command), name);
  const waiting = await settled();
  const display = progressDisplay({});
  const onPart = (text: string) => display.show({ done: 0, of: null, text });
  const { header, rows } = await withDatabase({ url: undefined }, (url) =>
    writeBackup(url, file, (part) => onPart(partName(part))),
  );
  if (check) await checked(file, (part) => onPart(`checking ${part}`));
  display.end();
  print(
    `${file}: ${counted(rows, "row")} as of ${header.taken_at}${check ? ", checked by restoring it" : ""}. ${waiting} Keep the master key elsewhere.`,
  );
}

/** Has a running gateway store what it has recorded; says what is left. */
async function settled(): Promise<string> {
  try {
    const api = adminApi(undefined);
    await api.call("GET", "/admin/v1/requests?limit=1");
    const [, left = "0"] = /^tallygate_spool_records (\d+)/m.exec(await api.text("GET", "/metrics")) ?? [];
    return left === "0"
      ? "The spool was empty."
      : `${counted(left, "record was", "records were")} still in the spool and not in it.`;
  } catch {
    return "Records in the spools of gateways are not in it.";
  }
}

async function checked(file: string, onPart: (name: string) => void): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "tallygate-check-"));
  const temporary = await ownDatabase(directory);
  try {
    await restoreBackup({ url: temporary.url, file, replaces: false, onPart });
  } finally {
    await temporary.stop();
    // Postgres's own user cannot reach root's temporary directory: the copy is elsewhere then.
    const cluster = existingCluster(directory);
    if (cluster !== null) await rm(dirname(cluster), { recursive: true });
    await rm(directory, { recursive: true });
  }
}

type RestoreOptions = { to?: string; replace?: true };

async function restore(name: string, { to, replace }: RestoreOptions, command: Command): Promise<void> {
  const file = resolve(directoryOf(command), name);
  await requireReadable(file);
  // Before a database is created for it.
  await readBackup(file, async () => undefined);
  const display = progressDisplay({});
  const onPart = (text: string) => display.show({ done: 0, of: null, text });
  const restored = await withDatabase({ url: to, creates: true }, (url) =>
    restoreBackup({ url, file, replaces: replace ?? false, onPart }),
  );
  display.end();
  print(restoredText(restored));
  if (!restored.done) process.exitCode = 1;
}

function restoredText({ header, rows, broughtBack, done }: Restored): string {
  const first = done
    ? `Restored ${counted(rows, "row")} as of ${header.taken_at}.`
    : `Nothing was changed: the database has an installation. Add --replace to replace it with ${counted(rows, "row")} as of ${header.taken_at}.`;
  const back =
    broughtBack === null
      ? [
          "What was revoked or disabled since then is valid again; the database was empty, so it is not known what that is.",
        ]
      : backLines(broughtBack);
  const next = [
    "The GitHub App reads pull requests that changed since. With ClickHouse, run `tallygate move-records --again`.",
    `Start with the master key of that time: DATA_DIR/master-key or MASTER_KEY, then \`${START_COMMAND}\`.`,
  ];
  return [first, ...back, ...(done ? next : [])].join("\n");
}

const BACK = {
  keys: "Keys that were revoked since",
  secrets: "Keys with secrets that were replaced since",
  tokens: "Admin tokens that were revoked since",
  people: "People who were disabled since",
} as const satisfies Record<keyof BroughtBack, string>;

function backLines(back: BroughtBack): string[] {
  const found = Object.entries(BACK).flatMap(([kind, text]) => {
    const names = back[kind as keyof typeof BACK];
    return names.length === 0 ? [] : [`  ${text}: ${names.join(", ")}`];
  });
  return found.length === 0
    ? ["It brings back nothing that was revoked or disabled since."]
    : ["It brings back:", ...found];
}

async function move({ to, from }: { to?: string; from?: string }, command: Command): Promise<void> {
  const other = to ?? from;
  if (other === undefined || (to !== undefined && from !== undefined))
    return command.error("error: name the other database with --to or with --from");
  await answering(other);
  const display = progressDisplay({});
  const rows = await withDatabase({ url: undefined, creates: from !== undefined }, (here) =>
    moveDatabase({
      from: from ?? here,
      to: to ?? here,
      onPart: ({ name, ...part }) => display.show({ ...part, text: name }),
    }),
  );
  display.end();
  const next =
    to === undefined
      ? `\`${START_COMMAND}\` without DATABASE_URL`
      : "the gateway with DATABASE_URL set to it";
  print(
    `Moved ${counted(rows, "row")}; both databases have the same. Now start ${next}, and with the same master key.`,
  );
}
