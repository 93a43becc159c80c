import { expect, test } from "bun:test";
import { join } from "node:path";
import { is } from "drizzle-orm";
import { getTableConfig, PgTable } from "drizzle-orm/pg-core";
import { connect } from "#drizzle/database.ts";
import { migrate } from "#drizzle/migrate.ts";
import { requireMasterKey, SEALED, WrongMasterKey } from "#gateway/stores/master-key-check.ts";
import { createSealer } from "#gateway/stores/seal.ts";
import { systemClock } from "#shared/clock.ts";
import { githubAppKey } from "#shared/master-key.ts";
import { createSecretBox, keyIdOf, sealedFor } from "#shared/secret-box.ts";
import { atEnd } from "#test/support/at-end.ts";
import { keptLog, scratch } from "#test/support/embedded.ts";
import { localGateway } from "#test/support/local-gateway.ts";
import { testDatabase } from "#test/support/postgres.ts";

const place = scratch();
const RIGHT = new Uint8Array(32).fill(1);
const WRONG = new Uint8Array(32).fill(2);

const check = (databaseUrl: string, masterKey: Uint8Array, masterKeyReplaces: string | null = null) =>
  requireMasterKey({ databaseUrl, masterKey, masterKeyReplaces, clock: systemClock, log: keptLog() });

/** A database without a check, as older versions left it, and one credential sealed there by each key. */
async function sealedBy(...keys: Uint8Array[]) {
  const { url } = await testDatabase();
  await migrate(url);
  const sql = connect(url, { name: "test", max: 1, statementTimeoutMs: 5000 });
  atEnd(() => sql.end());
  const now = new Date().toISOString();
  for (const key of keys) {
    const provider = `p${key[0]}`;
    const sealed = createSealer(key).seal("sk", { orgId: "default", provider, purpose: "credential" });
    await sql`insert into providers (name, kind, credential, headers, created_at, updated_at)
      values (${provider}, 'openai', ${sealed}, '{}', ${now}, ${now})`;
  }
  const checks = async () => (await sql`select 1 from master_key_checks`).length;
  return { url, sql, checks };
}

test("a gateway with another master key refuses to start, and nothing of it is sealed", async () => {
  const first = await localGateway({ dataDir: join(place.path, "first") });
  const { databaseUrl } = first;
  const MASTER_KEY = Buffer.from(WRONG).toString("base64");
  const start = (name: string, env = {}) =>
    localGateway({ dataDir: join(place.path, name), databaseUrl, env: { MASTER_KEY, ...env } });
  const refused = await start("second").catch((error) => error);
  expect(refused).toBeInstanceOf(WrongMasterKey);
  const used = /MASTER_KEY_REPLACES=([0-9a-f]{8})/.exec(refused.message)?.[1] ?? "";
  expect(refused.message).toContain(keyIdOf(WRONG));
  // A key that was lost is replaced on purpose only: by naming it.
  await expect(start("third", { MASTER_KEY_REPLACES: "00000000" })).rejects.toBeInstanceOf(WrongMasterKey);
  const fourth = await start("fourth", { MASTER_KEY_REPLACES: used });
  const { data } = await fourth.admin<{ data: { subject: string }[] }>(
    "GET",
    "/audit?action=master_key.replaced",
  );
  expect(data.map(({ subject }) => subject)).toEqual([used]);
});

test("an older installation gets its check once this key opens all that is sealed there", async () => {
  const { url, checks } = await sealedBy(RIGHT);
  await expect(check(url, WRONG)).rejects.toBeInstanceOf(WrongMasterKey);
  expect(await checks()).toBe(0);
  await check(url, RIGHT);
  expect(await checks()).toBe(1);
  await expect(check(url, WRONG)).rejects.toBeInstanceOf(WrongMasterKey);
});

test("where each of two keys opens a part, both start and neither makes the check", async () => {
  const { url, sql, checks } = await sealedBy(RIGHT, WRONG);
  await check(url, WRONG);
  await check(url, RIGHT);
  expect(await checks()).toBe(0);
  await sql`delete from providers where name = 'p2'`;
  await check(url, RIGHT);
  expect(await checks()).toBe(1);
});

test("the GitHub App's credentials, sealed under a key of its own, belong to the same master key", async () => {
  const { url, sql, checks } = await sealedBy();
  const sealed = createSecretBox(githubAppKey(RIGHT)).seal("{}", sealedFor(1));
  await sql`insert into github_apps (app_id, slug, html_url, api_url, sealed, created_at)
    values (1, 'a', 'https://github.com/apps/a', 'https://api.github.com', ${sealed}, now())`;
  await expect(check(url, WRONG)).rejects.toBeInstanceOf(WrongMasterKey);
  await check(url, RIGHT);
  expect(await checks()).toBe(1);
});

test("every column that holds sealed texts is compared", async () => {
  const found: string[] = [];
  const folder = join(import.meta.dir, "../../drizzle/schema");
  for await (const file of new Bun.Glob("*.ts").scan(folder)) {
    const tables = Object.values(await import(join(folder, file))).filter((it) => is(it, PgTable));
    for (const { name, columns } of tables.map(getTableConfig)) {
      for (const column of columns) {
        if (/^sealed|^(more_)?credentials?$|^headers$/.test(column.name))
          found.push(`${name}.${column.name}`);
      }
    }
  }
  const compared = [...Object.keys(SEALED), "master_key_checks.sealed"];
  expect(found.sort()).toEqual(compared.sort());
});
