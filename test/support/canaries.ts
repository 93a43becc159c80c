import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type postgres from "postgres";

/** A text that must turn up nowhere: what it stands for, and the text. */
export type Canary = { name: string; text: string };

/** A text as it may have been written: as it is, in hexadecimal, and in base64 wherever its first byte fell. */
export function spellings(text: string): string[] {
  const bytes = Buffer.from(text);
  const base64 = [0, 1, 2].map((shift) => {
    const whole = Buffer.concat([Buffer.alloc(shift), bytes]).toString("base64");
    // The first and last characters also depend on neighbours.
    return whole.slice(shift === 0 ? 0 : 4, -4);
  });
  return [
    text,
    bytes.toString("hex"),
    ...base64,
    ...base64.map((it) => it.replace(/\+/g, "-").replace(/\//g, "_")),
  ];
}

/** Which canaries are in the bytes, by name. */
export function found(canaries: readonly Canary[], bytes: Uint8Array | string): string[] {
  const where = Buffer.from(bytes as string);
  return canaries
    .filter(({ text }) => spellings(text).some((spelling) => where.includes(spelling)))
    .map(({ name }) => name);
}

/** Every table outside the system's schemas, as text, row by row: what a dump would hold. Binary columns are in hexadecimal. */
export async function dumpOf(sql: postgres.Sql): Promise<Map<string, string>> {
  const tables = await sql<{ schema: string; name: string }[]>`
    select table_schema as schema, table_name as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`;
  const dump = new Map<string, string>();
  for (const { schema, name } of tables) {
    const rows = await sql<
      { row: string }[]
    >`select row_to_json(t)::text as row from ${sql(schema)}.${sql(name)} t`;
    dump.set(`${schema}.${name}`, rows.map(({ row }) => row).join("\n"));
  }
  return dump;
}

/** Every file below a directory, with its bytes. */
export function filesBelow(directory: string): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (entry.isFile())
      files.set(join(entry.parentPath, entry.name), readFileSync(join(entry.parentPath, entry.name)));
  }
  return files;
}
