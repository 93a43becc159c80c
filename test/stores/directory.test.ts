import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { openDatabase } from "#drizzle/database.ts";
import { GatewayError } from "#gateway/errors.ts";
import { bootstrap } from "#gateway/stores/bootstrap.ts";
import { ownChange } from "#gateway/stores/change.ts";
import { type DirectoryStore, openDirectory } from "#gateway/stores/directory/directory.ts";
import { insertKey, revokeKey } from "#gateway/stores/keys.ts";
import { editedProvider, providerRows } from "#gateway/stores/providers.ts";
import { createSealer } from "#gateway/stores/seal.ts";
import { patchSettings } from "#gateway/stores/settings.ts";
import { systemClock } from "#shared/clock.ts";
import { newId } from "#shared/ids.ts";
import { recordedLog } from "#test/admin/world.ts";
import { NO_SNAPSHOT } from "#test/support/no-snapshot.ts";
import { type TestDatabase, testDatabase } from "#test/support/postgres.ts";
import { until } from "#test/support/until.ts";
import { type DatabaseProxy, databaseProxy } from "./database-proxy.ts";
import { movableClock } from "./movable-clock.ts";

const MASTER_KEY = new Uint8Array(32).fill(3);
const FACTS = { owner: null, team: null, scopes: {}, limits: null, expiresAt: null };
const hex = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex");

let test1: TestDatabase;
let proxy: DatabaseProxy;
let admin: ReturnType<typeof openDatabase>;
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
  test1 = await testDatabase();
  proxy = await databaseProxy(test1.url);
  admin = openDatabase(test1.url, { name: "admin", max: 2, statementTimeoutMs: 60_000 });
  const keepFirstKey = async () => undefined;
  const log = recordedLog();
  await bootstrap({ database: admin, providerKeys: new Map(), keepFirstKey, clock: systemClock, log });
});
afterEach(async () => {
  await proxy.become("open");
  for (const close of closing.splice(0)) await close();
});
afterAll(async () => {
  await admin.close();
  proxy.close();
});

async function replica(options: { url?: string; masterKey?: Uint8Array; pollMs?: number } = {}) {
  const database = openDatabase(options.url ?? test1.url, {
    name: "replica",
    max: 2,
    statementTimeoutMs: 5000,
  });
  const clock = movableClock();
  const log = recordedLog();
  const { masterKey = MASTER_KEY, pollMs = 50 } = options;
  const store = openDirectory({
    database,
    masterKey,
    providerKeys: new Map(),
    clock,
    log,
    pollMs,
    snapshot: NO_SNAPSHOT,
  });
  await store.begin();
  closing.push(async () => {
    await store.close();
    await database.close(1);
  });
  return { store, clock, log, database };
}

/** A key that another process made. */
const keyElsewhere = () =>
  ownChange(admin, (tx) => insertKey(tx, { ...FACTS, name: newId() }, systemClock.now()));

const refusal = async (answer: ReturnType<DirectoryStore["keyOf"]>): Promise<string> => {
  try {
    return `answered ${JSON.stringify(await answer)}`;
  } catch (error) {
    return error instanceof GatewayError ? error.type : "another error";
  }
};

describe("one replica's change reaches the others", () => {
  test("within five seconds, without a restart, and listeners hear of it", async () => {
    const [one, two] = [await replica(), await replica({ pollMs: 2000 })];
    const heard: number[] = [];
    two.store.subscribe(({ version }) => void heard.push(version));
    two.store.subscribe(() => {
      throw new Error("a listener's own failure");
    });
    await ownChange(one.database, (tx) => patchSettings(tx, { retention_days: 77 }, systemClock.now()));
    await one.store.refresh();
    expect(one.store.current().settings.retention_days).toBe(77);
    await until(() => two.store.current().settings.retention_days === 77);
    expect(heard).toEqual([one.store.current().version]);
    expect(two.log.lines.join()).toContain("listener failed");
  });

  test("a key made elsewhere works at once, also asked for many times at once", async () => {
    const { store } = await replica();
    const { id, secret } = await keyElsewhere();
    const answers = await Promise.all(Array.from({ length: 50 }, () => store.keyOf(hex(secret))));
    expect(new Set(answers.map((key) => key?.id))).toEqual(new Set([id]));
    await until(() => store.current().keys.has(hex(secret)));
    expect(store.keyOf(hex(secret))).not.toBeInstanceOf(Promise);
  });

  test("a key revoked elsewhere is refused within five seconds", async () => {
    const { store } = await replica();
    const { id, secret } = await keyElsewhere();
    expect(await store.keyOf(hex(secret))).not.toBeNull();
    await until(() => store.current().keys.has(hex(secret)));
    await ownChange(admin, (tx) => revokeKey(tx, id, systemClock.now()));
    await until(async () => (await store.keyOf(hex(secret))) === null);
  });

  test("a secret that was unknown is found once its key exists", async () => {
    const { store, clock } = await replica();
    expect(await store.keyOf(hex("unknown"))).toBeNull();
    expect(store.keyOf(hex("unknown"))).toBeNull();
    clock.advance(5000);
    const asked = store.keyOf(hex("unknown"));
    expect(asked).toBeInstanceOf(Promise);
    expect(await asked).toBeNull();
  });

  test("refreshes at once end with the newest, however they overlap", async () => {
    const { store, database } = await replica();
    for (let days = 100; days < 120; days++) {
      await ownChange(database, (tx) => patchSettings(tx, { retention_days: days }, systemClock.now()));
      void store.refresh();
      await store.refresh();
      expect(store.current().settings.retention_days).toBe(days);
    }
  });
});

describe("expiry", () => {
  test("is checked against the clock at each call, in memory and not", async () => {
    const { store, clock } = await replica();
    const expiresAt = new Date(Date.now() + 60_000).toISOString();
    const make = () =>
      ownChange(admin, (tx) => insertKey(tx, { ...FACTS, name: newId(), expiresAt }, systemClock.now()));
    const [known, other] = [await make(), await make()];
    await store.refresh();
    expect(await store.keyOf(hex(known.secret))).not.toBeNull();
    clock.advance(60_001);
    expect(store.keyOf(hex(known.secret))).toBeNull();
    expect(await store.keyOf(hex(other.secret))).toBeNull();
  });
});

describe("while Postgres is away", () => {
  test("known keys go on being known, unknown ones cannot be verified, and it recovers by itself", async () => {
    const { secret } = await keyElsewhere();
    const { store, log } = await replica({ url: proxy.url });
    await proxy.become("gone");
    expect(await store.keyOf(hex(secret))).toMatchObject({ scopes: {} });
    expect(await refusal(store.keyOf(hex("another")))).toBe("key_unverifiable");
    await until(() => log.lines.some((line) => line.includes("the last version stays in use")));
    expect(await store.contact()).toBeNull();
    expect(store.current().providers.has("echo")).toBe(true);

    const made = await keyElsewhere();
    await proxy.become("open");
    await until(async () => (await store.contact()) === "writes");
    expect(await store.keyOf(hex(made.secret))).not.toBeNull();
    // Whether it answers is asked at once; the directory looks by itself every two seconds.
    await until(() => log.lines.some((line) => line.includes("directory is current again")));
  });

  test("a key made elsewhere that has answered goes on being known, though the directory was not read since", async () => {
    const { store, database } = await replica({ url: proxy.url });
    const { id, secret } = await keyElsewhere();
    // The directory itself is read in a transaction, the key is not.
    database.db.transaction = () => Promise.reject(new Error("away"));
    expect((await store.keyOf(hex(secret)))?.id).toBe(id);
    await proxy.become("gone");
    expect(await refusal(store.keyOf(hex("another")))).toBe("key_unverifiable");
    expect(await store.keyOf(hex(secret))).toMatchObject({ id });
    await proxy.become("open");
  });

  test("a database that hangs is given up on", async () => {
    const { secret } = await keyElsewhere();
    const { store, log } = await replica({ url: proxy.url });
    await proxy.become("hung");
    expect(await Promise.all([store.contact(), store.contact()])).toEqual([null, null]);
    expect(await refusal(store.keyOf(hex("another")))).toBe("key_unverifiable");
    expect(store.keyOf(hex(secret))).not.toBeInstanceOf(Promise);
    await until(() => log.lines.some((line) => line.includes("the last version stays in use")));
  });

  test("after fifteen minutes the log says that revocations do not arrive, once", async () => {
    const { store, clock, log } = await replica({ url: proxy.url });
    await proxy.become("gone");
    await until(() => log.lines.some((line) => line.includes("the last version stays in use")));
    clock.advance(15 * 60_000);
    await until(() => log.lines.some((line) => line.includes("directory is stale")));
    await store.refresh().catch(() => undefined);
    expect(log.lines.filter((line) => line.includes("directory is stale"))).toHaveLength(1);
  });
});

test("a credential sealed with another master key is not used, and the log names the provider", async () => {
  const edit = { name: "sealed", current: null, merge: false, now: systemClock.now() };
  const body = { kind: "groq", credential: "sk-CANARY" } as const;
  await ownChange(admin, (tx) =>
    providerRows.write(tx, editedProvider({ ...edit, body, sealer: createSealer(MASTER_KEY) })),
  );
  expect((await replica()).store.current().providers.get("sealed")?.credential?.reveal()).toBe("sk-CANARY");
  const { store, log } = await replica({ masterKey: new Uint8Array(32).fill(4) });
  expect(store.current().providers.get("sealed")?.credential).toBeNull();
  expect(log.lines.join()).toContain('"provider":"sealed"');
  expect(log.lines.join()).not.toContain("CANARY");
});
