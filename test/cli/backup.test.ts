import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type postgres from "postgres";
import { migrate } from "#drizzle/migrate.ts";
import { writeBackup } from "#drizzle/transfer/backup.ts";
import { moveDatabase } from "#drizzle/transfer/move.ts";
import { dataParts, partName, partSum } from "#drizzle/transfer/parts.ts";
import { restoreBackup } from "#drizzle/transfer/restore.ts";
import { migrationsUntil } from "#test/support/earlier-migrations.ts";
import { scratch } from "#test/support/embedded.ts";
import { longTest } from "#test/support/fault-run.ts";
import { ADMIN_KEY } from "#test/support/gateway-process.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";
import { testDatabase, testSql } from "#test/support/postgres.ts";
import { until } from "#test/support/until.ts";

const PROGRAM = join(import.meta.dir, "../../gateway/cli/tallygate.ts");

/** A command, with the database and the gateway that its settings name. */
async function command(env: Record<string, string>, ...words: string[]) {
  const child = Bun.spawn([process.execPath, PROGRAM, ...words], {
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, fault] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { status: await child.exited, out, fault };
}

const call = (gateway: LocalGateway, secret: string) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "x-tags": 'a "quoted" \\ one' },
    body: JSON.stringify({ model: "echo", messages: [{ role: "user", content: "hello" }] }),
  });

/** What formats of text and JSON may change. */
const ODD = 'Ann "\\" \\n \n\r\t\u2028 Ünal \\. {}';

/** A gateway with a person, a key, a price and a few recorded calls. */
async function used() {
  const gateway = await localGateway({ dataDir: `${scratch().path}/gateway` });
  const { id, secret } = await gateway.admin<{ id: string; secret: string }>("POST", "/keys", {
    name: "laptop",
  });
  await gateway.admin("POST", "/people", { email: "ann@example.com", name: "Ann" });
  await gateway.admin("POST", "/prices", {
    model: "echo",
    effective_from: "2020-01-01",
    input: "0.000000000123",
    output: "1",
  });
  for (let n = 0; n < 5; n++) expect((await call(gateway, secret)).status).toBe(200);
  const sql = testSql(gateway.databaseUrl);
  await sql`update people set name = ${ODD}`;
  await until(async () => (await sql`select 1 from requests`).length === 5);
  return { gateway, sql, id, secret };
}

/** Each part of a database with its rows and their hash, but for what a gateway itself writes at its start and end. */
const sums = (sql: postgres.Sql) =>
  sql.begin(async (tx) => {
    const found: Record<string, unknown> = {};
    for (const part of await dataParts(tx)) found[partName(part)] = await partSum(tx, part);
    return found;
  });

describe("a backup", () => {
  test("of a running gateway is one snapshot, checked by restoring it, and serves as the original did", async () => {
    const { gateway, sql, secret } = await used();
    const file = join(scratch().path, "tallygate.backup");
    let isOver = false;
    const calling = (async () => {
      for (let count = 0; ; count++) {
        if (isOver) return count;
        await call(gateway, secret);
        await Bun.sleep(20);
      }
    })();
    const env = { DATABASE_URL: gateway.databaseUrl, ADMIN_KEY, TALLYGATE_URL: gateway.url };
    const made = await command(env, "backup", file);
    isOver = true;
    expect(await calling).toBeGreaterThan(0);
    expect(made).toMatchObject({ status: 0 });
    expect(made.out).toMatch(
      /: \d+ rows as of \d{4}-\S+Z, checked by restoring it\. .* Keep the master key elsewhere\.\n$/,
    );
    // The copy that it was restored to is gone, wherever root's Postgres had to keep it.
    const [, cluster = "none was made"] = /Creating the database in (\S+)/.exec(made.fault) ?? [];
    expect([cluster, existsSync(dirname(cluster))]).toEqual([expect.stringMatching(/\/data$/), false]);
    expect(readFileSync(file).toString("latin1")).not.toContain("ann@example.com");

    const { url } = await testDatabase();
    const restored = await command({}, "restore", file, "--to", url);
    expect(restored).toMatchObject({ status: 0 });
    expect(restored.out).toContain("What was revoked or disabled since then is valid again");
    const copy = testSql(url);
    const rows = await copy<
      { id: string; text: string }[]
    >`select id, row(r.*)::text as text from requests r`;
    expect(rows.length).toBeGreaterThanOrEqual(5);
    const own = await sql<{ id: string; text: string }[]>`
      select id, row(r.*)::text as text from requests r where id = any(${`{${rows.map(({ id }) => id).join()}}`}::text::uuid[])`;
    const byId = (all: typeof rows) => Object.fromEntries(all.map(({ id, text }) => [id, text]));
    expect(byId(rows)).toEqual(byId(own));
    // Sums that triggers keep are those of the snapshot, too.
    const [spent] =
      await copy`select (select sum(cost_usd) from requests) = (select sum(usd) from key_spend) as same`;
    expect(spent?.["same"]).toBe(true);

    const again = await localGateway({ dataDir: `${scratch().path}/gateway`, databaseUrl: url });
    expect((await call(again, secret)).status).toBe(200);
    const people = await again.admin<{ data: { name: string }[] }>("GET", "/people");
    expect(people.data.map(({ name }) => name)).toContain(ODD);
  });

  test("says what it brings back before it replaces anything, and is refused while a gateway runs", async () => {
    const { gateway, sql, id } = await used();
    const file = join(scratch().path, "tallygate.backup");
    await writeBackup(gateway.databaseUrl, file, () => undefined);
    await gateway.admin("DELETE", `/keys/${id}`);
    const [person] = await sql`select id from people where email = 'ann@example.com'`;
    await gateway.admin("PATCH", `/people/${person?.["id"]}`, { disabled: true });
    const env = { DATABASE_URL: gateway.databaseUrl };
    const running = await command(env, "restore", file);
    expect(running).toMatchObject({
      status: 1,
      fault: expect.stringContaining("is in use by 1 gateway process. Stop"),
    });
    await gateway.stop();
    const before = await sums(sql);
    const asked = await command(env, "restore", file);
    expect(asked.status).toBe(1);
    expect(asked.out).toContain("Nothing was changed");
    expect(asked.out).toContain("  Keys that were revoked since: laptop\n");
    expect(asked.out).toContain("  People who were disabled since: ann@example.com");
    expect(await sums(sql)).toEqual(before);
    expect(await command(env, "restore", file, "--replace")).toMatchObject({ status: 0 });
    const [key] = await sql`select revoked_at from keys where id = ${id}`;
    expect(key?.["revoked_at"]).toBeNull();
  });

  test("that is damaged or cut off changes nothing", async () => {
    const { gateway } = await used();
    const place = scratch().path;
    await writeBackup(gateway.databaseUrl, join(place, "whole"), () => undefined);
    const whole = readFileSync(join(place, "whole"));
    const { url } = await testDatabase();
    const sql = testSql(url);
    const flipped = Buffer.from(whole);
    flipped[whole.length >> 1] = (flipped[whole.length >> 1] ?? 0) ^ 0xff;
    for (const bytes of [
      flipped,
      whole.subarray(0, whole.length - 400),
      whole.subarray(0, 3),
      Buffer.from("x"),
    ]) {
      writeFileSync(join(place, "broken"), bytes);
      const restoring = restoreBackup({
        url,
        file: join(place, "broken"),
        replaces: false,
        onPart: () => undefined,
      });
      await expect(restoring).rejects.toThrow(
        bytes === flipped ? undefined : "/broken is no complete backup",
      );
      expect(await sql`select 1 from keys`).toHaveLength(0);
    }
    const unread = { url, replaces: false, onPart: () => undefined };
    for (const file of [join(place, "missing"), place]) {
      await expect(restoreBackup({ ...unread, file })).rejects.toThrow("is no complete backup");
    }
    const missing = await command({}, "restore", join(place, "missing"), "--to", url);
    expect(missing.fault).toBe(`${join(place, "missing")} cannot be read: it does not exist.\n`);
    const DATA_DIR = join(place, "new");
    expect((await command({ DATA_DIR }, "restore", join(place, "broken"))).fault).toContain(
      "no complete backup",
    );
    expect(existsSync(DATA_DIR)).toBe(false);
    const to = "postgres://a:b@127.0.0.1:1/c";
    for (const [words, status, fault] of [
      [["move-database"], 2, "--to or with --from"],
      [["move-database", "--to", to], 1, "The database c at 127.0.0.1:1 cannot be reached"],
    ] as const) {
      const said = await command({ DATA_DIR }, ...words);
      expect(said).toMatchObject({ status, fault: expect.stringContaining(fault) });
    }
  });

  test("of an earlier version is restored into an empty database, and brought to this version", async () => {
    const home = await testDatabase();
    const admin = testSql(home.url);
    const [before, after] = ["before", "after"].map((name) => {
      const database = `${name}_${crypto.randomUUID().replaceAll("-", "")}`;
      return { database, url: home.url.replace(/\/t_[0-9a-f]+\?/, `/${database}?`) };
    });
    if (!before || !after) throw new Error("two names give two databases");
    for (const { database } of [before, after]) await admin.unsafe(`create database ${database}`);
    await migrate(before.url, migrationsUntil("0002_record_changes"));
    const key = `insert into keys (id, name, owner, scopes, created_at)
      values (gen_random_uuid(), 'laptop (ada@example.com)', 'ada@example.com', '{}', now())`;
    await testSql(before.url).unsafe(key);
    const file = join(scratch().path, "old");
    await writeBackup(before.url, file, () => undefined);
    const restoring = (url: string) => restoreBackup({ url, file, replaces: false, onPart: () => undefined });
    await expect(restoring(home.url)).rejects.toThrow(
      "earlier version of Tallygate. Restore it into a new, empty",
    );
    await restoring(after.url);
    // As the migrations make it of such a key.
    expect([...(await testSql(after.url)`select name, own from keys`)] as object[]).toEqual([
      { name: "laptop (ada@example.com)", own: true },
    ]);
  });
});

describe("a move", () => {
  test("that was interrupted continues, and ends with the same rows", async () => {
    const { gateway, sql } = await used();
    await sql`insert into requests select (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(),
      'started_at', '2025-02-03T04:05:06Z'))).* from requests r limit 1`;
    await gateway.stop();
    const from = gateway.databaseUrl;
    const { url: to } = await testDatabase();
    let parts = 0;
    const onPart = () => {
      parts += 1;
      if (parts === 7) throw new Error("interrupted");
    };
    await expect(moveDatabase({ from, to, onPart })).rejects.toThrow("interrupted");
    await sql`update settings set updated_at = now()`;
    await sql`update people set name = 'Another'`;
    const moved = await command({ DATABASE_URL: from }, "move-database", "--to", to);
    expect(moved).toMatchObject({
      status: 0,
      out: expect.stringMatching(/^Moved \d+ rows; both databases have the same\./),
    });
    const target = testSql(to);
    expect(await sums(target)).toEqual(await sums(sql));
    expect(await target`select to_regclass('moved_parts') as name`).toEqual([{ name: null }] as never);
    expect(await command({ DATABASE_URL: from }, "move-database", "--to", to)).toMatchObject({
      status: 1,
      fault: expect.stringContaining("has an installation already"),
    });
  });

  longTest("cli/backup (the same move between two servers), drizzle/embedded")(
    "goes back to the built-in Postgres, too",
    async () => {
      const { gateway } = await used();
      await gateway.stop();
      const to = gateway.databaseUrl;
      const dataDirectory = scratch().path;
      expect(await command({ DATA_DIR: dataDirectory }, "move-database", "--from", to)).toMatchObject({
        status: 0,
      });
      expect(
        await command({ DATA_DIR: dataDirectory }, "backup", join(dataDirectory, "b"), "--no-check"),
      ).toMatchObject({
        status: 0,
      });
    },
  );

  longTest("cli/backup (a restore is refused while a gateway runs)")(
    "is refused while a gateway uses the database",
    async () => {
      const { gateway } = await used();
      const { url } = await testDatabase();
      const refused = await command({ DATABASE_URL: gateway.databaseUrl }, "move-database", "--to", url);
      expect(refused).toMatchObject({
        status: 1,
        fault: expect.stringContaining("in use by 1 gateway process"),
      });
    },
  );
});
