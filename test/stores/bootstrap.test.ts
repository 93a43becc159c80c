import { afterEach, beforeEach, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { type Database, openDatabase } from "#drizzle/database.ts";
import { keySecrets, keys } from "#drizzle/schema/keys.ts";
import { directoryVersions, providers, routes, settings } from "#drizzle/schema/routes.ts";
import { Secret } from "#gateway/directory.ts";
import { bootstrap } from "#gateway/stores/bootstrap.ts";
import { ownChange } from "#gateway/stores/change.ts";
import { systemClock } from "#shared/clock.ts";
import { DEFAULT_SETTINGS } from "#shared/settings.ts";
import { recordedLog, sha256Hex } from "#test/admin/world.ts";
import { type TestDatabase, testDatabase } from "#test/support/postgres.ts";

let server: TestDatabase;
let database: Database;

beforeEach(async () => {
  server = await testDatabase();
  database = openDatabase(server.url, { name: "test", max: 8, statementTimeoutMs: 60_000 });
});
afterEach(async () => {
  await database.close();
  await server.close();
});

async function start(env: Record<string, string> = {}, keepFirstKey?: (secret: string) => Promise<void>) {
  const kept: string[] = [];
  const log = recordedLog();
  await bootstrap({
    database,
    providerKeys: new Map(Object.entries(env).map(([name, value]) => [name, new Secret(value)])),
    keepFirstKey: keepFirstKey ?? (async (secret) => void kept.push(secret)),
    clock: systemClock,
    log,
  });
  return { kept, log };
}

const names = async (table: typeof providers | typeof routes) =>
  (await database.db.select({ name: table.name }).from(table).orderBy(table.name)).map(({ name }) => name);

test("the first start makes the built-in provider, its four routes, the settings and one key", async () => {
  const { kept, log } = await start();
  expect(await names(providers)).toEqual(["echo"]);
  const made = await database.db.select().from(routes).orderBy(routes.name);
  expect(made.map(({ name, surface, provider, model }) => [name, surface, provider, model])).toEqual([
    ["echo", "chat", "echo", "echo"],
    ["image_generation", "image_generation", "echo", "echo"],
    ["rerank", "rerank", "echo", "echo"],
    ["tts", "tts", "echo", "echo"],
  ]);
  expect((await database.db.select().from(settings))[0]?.value).toEqual(DEFAULT_SETTINGS);
  expect(
    (await database.db.select().from(keys)).map(({ name, owner, scopes }) => [name, owner, scopes]),
  ).toEqual([["first", null, {}]]);
  expect(kept).toHaveLength(1);
  const [secret] = await database.db.select().from(keySecrets);
  expect(Buffer.from(secret?.sha256 ?? []).toString("hex")).toBe(sha256Hex(kept[0] ?? ""));
  expect(log.lines.join()).not.toContain(kept[0] ?? "?");
});

test("a second start changes nothing, not even the version, and brings back nothing that was deleted", async () => {
  await start();
  await ownChange(database, (tx) => tx.delete(routes).where(eq(routes.name, "tts")));
  const before = await database.db.select().from(directoryVersions);
  const { kept } = await start();
  expect(kept).toEqual([]);
  expect(await names(routes)).toEqual(["echo", "image_generation", "rerank"]);
  expect(await database.db.select().from(directoryVersions)).toEqual(before);
});

test("replicas that start at once make one first key between them", async () => {
  const all = await Promise.all(Array.from({ length: 6 }, () => start({ GROQ_API_KEY: "x" })));
  expect(all.flatMap(({ kept }) => kept)).toHaveLength(1);
  expect(await database.db.select().from(keys)).toHaveLength(1);
  expect(await names(providers)).toEqual(["echo", "groq"]);
});

test("where the secret cannot be kept nothing is made, and the next start makes it all", async () => {
  const failing = start({}, async () => {
    throw new Error("disk full");
  });
  await expect(failing).rejects.toThrow();
  expect(await database.db.select().from(keys)).toEqual([]);
  expect((await start()).kept).toHaveLength(1);
});

test("a credential in the environment makes its provider, on a later start too, and is not stored", async () => {
  await start({ OPENAI_API_KEY: "sk-CANARY" });
  expect(await names(providers)).toEqual(["echo", "openai"]);
  await start({ OPENAI_API_KEY: "sk-CANARY", ANTHROPIC_API_KEY: "sk-CANARY", UNKNOWN_API_KEY: "sk-CANARY" });
  expect(await names(providers)).toEqual(["anthropic", "echo", "openai"]);
  expect(JSON.stringify(await database.db.select().from(providers))).not.toContain("CANARY");
});

test("an administrator's own provider of that name is left as it is", async () => {
  await start();
  const now = systemClock.now().toISOString();
  const own = {
    name: "openai",
    kind: "vllm",
    baseUrl: "http://10.0.0.1",
    headers: {},
    createdAt: now,
    updatedAt: now,
  };
  await ownChange(database, (tx) => tx.insert(providers).values(own));
  await start({ OPENAI_API_KEY: "sk" });
  expect((await database.db.select().from(providers).where(eq(providers.name, "openai")))[0]).toMatchObject(
    own,
  );
});
