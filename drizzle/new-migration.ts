/**
 * `bun run db:new NAME`: writes the migration from the last snapshot to the current tables. What drizzle cannot
 * express (partitions, triggers) is added to the file by hand.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { MIGRATIONS_DIRECTORY } from "./migrate.ts";

const name = process.argv[2];
if (!name || !/^[a-z0-9_]+$/.test(name)) {
  process.stderr.write("Give the migration a name: bun run db:new add_colours\n");
  process.exit(1);
}

const config = join(import.meta.dir, "drizzle.config.ts");
const kit = Bun.spawn(
  [process.execPath, "x", "drizzle-kit", "generate", "--config", config, "--name", name],
  {
    cwd: join(import.meta.dir, ".."),
    stdio: ["inherit", "inherit", "inherit"],
  },
);
if ((await kit.exited) !== 0) process.exit(1);

const newest = readdirSync(MIGRATIONS_DIRECTORY)
  .filter((file) => file.endsWith(".sql"))
  .sort()
  .at(-1);
if (newest) {
  const file = join(MIGRATIONS_DIRECTORY, newest);
  // drizzle-kit puts the brackets of an array behind its collation, where Postgres does not read them.
  await Bun.write(file, (await Bun.file(file).text()).replaceAll('text COLLATE "C"[]', 'text[] COLLATE "C"'));
}
