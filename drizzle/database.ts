import { readFileSync } from "node:fs";
import type { ConnectionOptions } from "node:tls";
import { drizzle, type PostgresJsDatabase } from "drizzle-orm/postgres-js";
import postgres from "postgres";
import { codeOf } from "#shared/error-code.ts";
import { POOL_MAX } from "#shared/postgres-url.ts";
import { words } from "#shared/words.ts";
import { ARRAY_TYPES } from "./array-types.ts";

export type PoolOptions = {
  /** Shown in `pg_stat_activity`. */
  name: string;
  /** Connections at most; opened when first needed. */
  max: number;
  /** After this the server ends a statement itself. */
  statementTimeoutMs: number;
  /** After this the server stops waiting for a lock; absent: the statement's time limit. */
  lockTimeoutMs?: number;
  /** After this the server ends a session that left a transaction open; absent: never. */
  idleTransactionTimeoutMs?: number;
  /** Answers do not wait for the disk: a crash of the server may undo the writes of its last second. */
  commitsLate?: boolean;
  /** Refuse every write (`default_transaction_read_only`). */
  readOnly?: boolean;
  /** Keep connections that are idle: work that comes first must not find the server full. */
  keepsIdle?: boolean;
};

/**
 * Clients over one address. `sql` is plain postgres.js (dates are `Date`, numerics strings), `long` the same for statements that may
 * take as long as a report; `db` is drizzle, which has a client of its own because it replaces the serialisers of the client that it is given.
 */
export type Database = {
  sql: postgres.Sql;
  long: postgres.Sql;
  db: PostgresJsDatabase;
  /** Waits for running statements at most `timeoutSeconds` (default 5), then cuts them off. */
  close(timeoutSeconds?: number): Promise<void>;
};

export type Transaction = Parameters<Parameters<Database["db"]["transaction"]>[0]>[0];

/** Whatever has drizzle's client, and whatever runs a statement of SQL: that client, or a transaction of it. */
export type Db = Pick<Database, "db">;
export type Runner = Pick<Transaction, "execute">;

const LONG = { max: 2, statementTimeoutMs: 60_000 };

export function openDatabase(url: string, options: PoolOptions): Database {
  const sql = connect(url, options);
  const orm = connect(url, options);
  const long = connect(url, { ...options, ...LONG, keepsIdle: false });
  return {
    sql,
    long,
    db: drizzle(orm),
    close: async (timeoutSeconds = 5) => {
      await Promise.all([sql, orm, long].map((client) => client.end({ timeout: timeoutSeconds })));
    },
  };
}

/** An idle connection is closed after this, so that others get its place. */
const IDLE_SECONDS = 60;

/**
 * A postgres.js client with the project's defaults: the same session settings on every server, a server-side statement
 * limit, and quick reconnects (postgres.js waits up to 20 s between attempts while queries wait). It is the only way to
 * open an address: the embedded database's address names a Unix socket in `?host=`, which postgres.js does not read.
 * There is no client-side limit; wrap a query that must not hang in `within`.
 * @throws Error that says what to correct in the address.
 */
export function connect(url: string, options: PoolOptions): postgres.Sql {
  const address = readAddress(url);
  return postgres(address.url, {
    ...(address.socketPath === null ? {} : { path: address.socketPath }),
    ...(address.tls && { ssl: address.tls }),
    max: Math.min(options.max, address.poolMax ?? options.max),
    ...(options.keepsIdle ? { max_lifetime: null } : { idle_timeout: IDLE_SECONDS }),
    connect_timeout: 5,
    keep_alive: 30,
    backoff: () => 0.2 + Math.random() * 0.3,
    fetch_types: false,
    types: ARRAY_TYPES,
    // The default prints notices to standard output.
    onnotice: () => undefined,
    connection: {
      application_name: `tallygate ${options.name}`,
      // Settings that the server's administrator may have changed and that results depend on.
      TimeZone: "UTC",
      DateStyle: "ISO, YMD",
      bytea_output: "hex",
      extra_float_digits: 1,
      standard_conforming_strings: true,
      default_transaction_isolation: "read committed",
      statement_timeout: options.statementTimeoutMs,
      ...(options.lockTimeoutMs === undefined ? {} : { lock_timeout: options.lockTimeoutMs }),
      ...(options.idleTransactionTimeoutMs === undefined
        ? {}
        : { idle_in_transaction_session_timeout: options.idleTransactionTimeoutMs }),
      ...(options.commitsLate ? { synchronous_commit: "off" } : {}),
      ...(options.readOnly ? { default_transaction_read_only: true } : {}),
    },
  });
}

/** Does work on one connection, which is closed afterwards. */
export async function connected<T>(
  url: string,
  options: Omit<PoolOptions, "max">,
  work: (client: postgres.Sql) => Promise<T>,
): Promise<T> {
  const client = connect(url, { ...options, max: 1 });
  try {
    return await work(client);
  } finally {
    await client.end({ timeout: 5 });
  }
}

// Parameters of libpq and other clients in the query part of an address. postgres.js would send them to the server as
// settings, and the server would refuse the connection.
const CLIENT_WORDS = [
  ...words("host port channel_binding gssencmode krbsrvname passfile sslcert sslkey sslcrl sslcompression"),
  ...[...words("sslpassword pgbouncer schema pool_timeout"), POOL_MAX],
];

const TLS_MODES = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"];

type Address = {
  url: string;
  socketPath: string | null;
  /** The authority of `sslrootcert`, which is checked in every mode; the host's name in `verify-full`. */
  tls?: ConnectionOptions;
  /** `connection_limit`: connections of each pool. */
  poolMax?: number;
};

/** An address as postgres.js takes it, and its Unix socket (`?host=/directory`). @throws Error with the remedy. */
export function readAddress(url: string): Address {
  const [base = "", query = ""] = url.split("?", 2);
  const given = new URLSearchParams(query);
  const directory = given.get("host");
  const port = given.get("port") ?? "5432";
  const poolMax = Number(given.get(POOL_MAX) ?? 0);
  const tls = tlsOf(given);
  for (const word of CLIENT_WORDS) given.delete(word);
  const rest = given.toString();
  return {
    url: rest === "" ? base : `${base}?${rest}`,
    socketPath: directory?.startsWith("/") ? `${directory}/.s.PGSQL.${port}` : null,
    ...(tls && { tls }),
    ...(poolMax > 0 && { poolMax }),
  };
}

/** What `sslrootcert` asks for; null: a word that postgres.js understands, or nothing. */
function tlsOf(given: URLSearchParams): ConnectionOptions | null {
  const mode = given.get("sslmode");
  if (mode !== null && !TLS_MODES.includes(mode)) {
    throw new Error(
      `sslmode=${mode} in the database's address is unknown. Write one of ${TLS_MODES.join(", ")}.`,
    );
  }
  const file = given.get("sslrootcert");
  if (file === null || file === "system") return null;
  given.delete("sslrootcert");
  if (mode === "disable") return null;
  given.delete("sslmode");
  try {
    const ca = readFileSync(file, "utf8");
    return mode === "verify-full" ? { ca } : { ca, checkServerIdentity: () => undefined };
  } catch (error) {
    throw new Error(`sslrootcert=${file} in the database's address cannot be read (${codeOf(error)}).`);
  }
}

/** `promise`, or a rejection with code `DEADLINE` after `ms`. The work continues: then drop its connection, too. */
export async function within<T>(ms: number, promise: PromiseLike<T>): Promise<T> {
  let timer: Timer | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(Object.assign(new Error(`no answer within ${ms} ms`), { code: "DEADLINE" }));
    }, ms);
  });
  try {
    return await Promise.race([promise, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
