import { Elysia } from "elysia";
import { Registry } from "prom-client";
import { type Database, openDatabase } from "#drizzle/database.ts";
import { admin } from "#gateway/admin/admin.ts";
import { Secret } from "#gateway/directory.ts";
import { GatewayError } from "#gateway/errors.ts";
import { cookieFacts } from "#gateway/identity/session-cookie.ts";
import { adminSecretCheck } from "#gateway/plugins/admin-key.ts";
import { errorAnswers } from "#gateway/plugins/error-answers.ts";
import { openRefusals } from "#gateway/plugins/refusals.ts";
import { bootstrap } from "#gateway/stores/bootstrap.ts";
import { type DirectoryStore, openDirectory } from "#gateway/stores/directory/directory.ts";
import { createSealer } from "#gateway/stores/seal.ts";
import { openDeployments } from "#gateway/upstream/deployments.ts";
import { learnedWires } from "#gateway/upstream/learned-wires.ts";
import { createOutboundFetch } from "#gateway/upstream/outbound-fetch.ts";
import type { ProviderApi } from "#gateway/upstream/provider-api.ts";
import { addressGuard } from "#gateway/upstream/ssrf.ts";
import { systemClock } from "#shared/clock.ts";
import type { Log, LogFields } from "#shared/log.ts";
import { githubAppKey, signInSecret } from "#shared/master-key.ts";
import { atEnd } from "#test/support/at-end.ts";
import { NO_SNAPSHOT } from "#test/support/no-snapshot.ts";
import { patient } from "#test/support/patient.ts";
import { testDatabase } from "#test/support/postgres.ts";

export const ADMIN_KEY = "tga_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG";
const MASTER_KEY = new Uint8Array(32).fill(7);

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
export type Json = any;

export type Answer = {
  status: number;
  /** The parsed body; `undefined` where there is none. */
  body: Json;
  /** As it came. */
  text: string;
  headers: Headers;
};

export type World = {
  database: Database;
  url: string;
  directory: DirectoryStore;
  /** A call with the admin key. */
  call(method: string, path: string, body?: unknown): Promise<Answer>;
  /** A call with the headers and the body as given. */
  raw(path: string, init: RequestInit): Promise<Answer>;
  /** The plugin by itself. */
  admin: ReturnType<typeof admin>;
  app: { handle(request: Request): Promise<Response>; routes: { method: string; path: string }[] };
  /** Secret of the key that the first start made. */
  firstKey: string;
  log: RecordedLog;
  /** Puts a host name into this world's DNS. */
  resolves(host: string, ...addresses: string[]): void;
  close(): Promise<void>;
};

export type RecordedLog = Log & { lines: string[] };

export function recordedLog(): RecordedLog {
  const lines: string[] = [];
  const at = (level: string) => (fields: LogFields, message: string) =>
    void lines.push(JSON.stringify({ level, ...fields, message }));
  const log: RecordedLog = {
    lines,
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    child: () => log,
  };
  return log;
}

/** An admin API on a database of its own, after the first start; nothing is opened on the network. */
export async function world(
  options: { pricesUrl?: string; providerKeys?: Record<string, string>; providerApi?: ProviderApi } = {},
): Promise<World> {
  const { url, close } = await testDatabase();
  const database = openDatabase(url, { name: "test", max: 4, statementTimeoutMs: 60_000 });
  const providerKeys = new Map(
    Object.entries(options.providerKeys ?? {}).map(([name, value]) => [name, new Secret(value)]),
  );
  const log = recordedLog();
  const clock = systemClock;
  let firstKey = "";
  const keepFirstKey = async (secret: string) => {
    firstKey = secret;
  };
  await bootstrap({ database, providerKeys, keepFirstKey, clock, log });
  const directory = openDirectory({
    database,
    masterKey: MASTER_KEY,
    providerKeys,
    clock,
    log,
    snapshot: NO_SNAPSHOT,
  });
  await directory.begin();
  const hosts = new Map<string, string[]>();
  const plugin = admin({
    ...patient(),
    database,
    directory,
    classifier: { current: () => null, training: () => false },
    sealer: createSealer(MASTER_KEY),
    setupKey: githubAppKey(MASTER_KEY),
    publicUrl: null,
    pricesUrl: options.pricesUrl ?? null,
    providerKeys,
    isAdminKey: adminSecretCheck(new Secret(ADMIN_KEY)),
    cookie: cookieFacts(null),
    cookieSecret: signInSecret(MASTER_KEY),
    refusals: openRefusals({ clock, log, metrics: new Registry(), addressOf: () => null, perMinuteMax: 10 }),
    addressGuard: addressGuard(clock, {
      resolve: async (host) => {
        const addresses = hosts.get(host);
        if (!addresses) throw new Error("no such host");
        return addresses;
      },
    }),
    deployments: openDeployments(clock),
    learnedWires: learnedWires(clock),
    reach: createOutboundFetch(addressGuard(clock)),
    log,
    providerApi: options.providerApi ?? (() => Promise.reject(new GatewayError("upstream_unreachable"))),
    settled: async () => undefined,
    clock,
  });
  const app = new Elysia({ normalize: false }).use(errorAnswers({ log })).use(plugin);
  const raw = async (path: string, init: RequestInit): Promise<Answer> => {
    const response = await app.handle(new Request(`http://gateway.test/admin/v1${path}`, init));
    const text = await response.text();
    return {
      status: response.status,
      body: text === "" ? undefined : JSON.parse(text),
      text,
      headers: response.headers,
    };
  };
  return {
    database,
    url,
    directory,
    app,
    admin: plugin,
    firstKey,
    log,
    raw,
    call: (method, path, body) =>
      raw(path, {
        method,
        headers: { authorization: `Bearer ${ADMIN_KEY}` },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    resolves: (host, ...addresses) => void hosts.set(host, addresses),
    close: atEnd(async () => {
      await directory.close();
      await database.close();
      await close();
    }),
  };
}

export const sha256Hex = (text: string): string => new Bun.CryptoHasher("sha256").update(text).digest("hex");

/** Status and message of a refusal, in one line. */
export async function fault(answer: Promise<Answer>): Promise<string> {
  const { status, body } = await answer;
  return `${status} ${body?.error?.message}`;
}
