import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createConnection, createServer } from "node:net";
import { join } from "node:path";
import { createServer as createTlsServer } from "node:tls";
import { connect, readAddress } from "#drizzle/database.ts";
import { SUPERUSER } from "#drizzle/embedded/initialise.ts";
import { awayReason, refusalOf, untilReachable } from "#drizzle/reach.ts";
import { readGatewayConfig } from "#gateway/config.ts";
import { atEnd } from "#test/support/at-end.ts";
import { freePort } from "#test/support/ports.ts";
import { testDatabase } from "#test/support/postgres.ts";

test("an unreachable database is named with its cause, again and again, until it answers", async () => {
  const stopping = new AbortController();
  const said: string[] = [];
  const port = freePort();
  const url = `postgres://somebody:canary-password@127.0.0.1:${port}/shop`;
  const waiting = untilReachable(url, {
    signal: stopping.signal,
    say: (reason) => {
      said.push(reason);
      if (said.length === 2) stopping.abort();
    },
  });
  await waiting;
  expect(said[0]).toBe(
    `The database shop at 127.0.0.1:${port} cannot be reached: nothing listens there (connection refused) (ECONNREFUSED).`,
  );
  expect(said[1]).toBe(said[0]!);
  expect(said.join()).not.toContain("canary");
});

test("an unknown host says so, and how to write special characters", async () => {
  const stopping = new AbortController();
  let said = "";
  await untilReachable("postgres://u:p@no-such-host.invalid/shop", {
    signal: stopping.signal,
    say: (reason) => {
      said = reason;
      stopping.abort();
    },
  });
  expect(said).toContain("shop at no-such-host.invalid:5432 cannot be reached");
  expect(said).toContain("percent-encoded");
});

test("a wrong password ends the wait with what to correct", async () => {
  const { url } = await testDatabase();
  const wrong = new URL(url);
  // The server asks no one else for a password, see support/postgres.ts.
  wrong.username = SUPERUSER;
  wrong.password = "canary";
  const fault = await untilReachable(wrong.href, {
    signal: AbortSignal.timeout(30_000),
    say: () => undefined,
  }).catch((error) => error);
  expect(fault.message).toContain("refuses the password");
  expect(fault.message).not.toContain("canary");
});

test("a server that hangs up is waited for", async () => {
  const server = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
  atEnd(() => void server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const stopping = new AbortController();
  let said = "";
  await untilReachable(`postgres://u:p@127.0.0.1:${port}/d`, {
    signal: stopping.signal,
    say: (reason) => {
      said = reason;
      stopping.abort();
    },
  });
  expect(said).toContain("cannot be reached: ");
});

test.each([
  "postgres://u:p@ss@h/d",
  "postgres://u:p#ss@h/d",
  "postgres://u:p/ss@h/d",
  "postgres://u:p%zz@h/d",
])("%s is refused as a setting, with how to write it", (url) => {
  expect(() =>
    readGatewayConfig({ DATABASE_URL: url, ADMIN_KEY: "tga_0123456789abcdef", MASTER_KEY: "ab".repeat(32) }),
  ).toThrow(/DATABASE_URL has an invalid value; expected .* percent-encoded/);
});

test("what else the server refuses is quoted without the address's password", () => {
  expect(refusalOf("postgres://u:canary@h/d", new Error("odd"))).toBe(
    "The database d at h:5432 cannot be used: odd",
  );
});

test("several hosts, a socket and encoded characters are accepted", () => {
  const rest = { ADMIN_KEY: "tga_0123456789abcdef", MASTER_KEY: "ab".repeat(32) };
  for (const url of [
    "postgres://u:p%40s%23@h1:5432,h2:5432/d?target_session_attrs=read-write",
    "postgresql://u@localhost/d?host=%2Frun%2Fpostgresql",
    "postgres://h",
  ]) {
    expect(readGatewayConfig({ DATABASE_URL: url, ...rest }).databaseUrl).toBe(url);
  }
});

/** A server that answers a start with `started`, and then each query with one row of these texts. */
async function standIn(started: Buffer, row: readonly string[] = []): Promise<string> {
  const server = createServer((socket) => {
    let isStarted = false;
    socket.on("data", () => {
      socket.write(isStarted ? rowAnswer(row) : started);
      isStarted = true;
    });
  }).listen(0, "127.0.0.1");
  atEnd(() => void server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  return `postgres://u:p@127.0.0.1:${typeof address === "object" && address ? address.port : 0}/d`;
}

const message = (type: string, ...parts: (Buffer | string)[]): Buffer => {
  const body = Buffer.concat(
    parts.map((part) => (typeof part === "string" ? Buffer.from(`${part}\0`) : part)),
  );
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};
const int = (bytes: 2 | 4, value: number): Buffer => {
  const buffer = Buffer.alloc(bytes);
  buffer.writeIntBE(value, 0, bytes);
  return buffer;
};
const READY = Buffer.concat([message("R", int(4, 0)), message("Z", Buffer.from("I"))]);
const [INT, TEXT] = [23, 25];

function rowAnswer([version = "", timeout = ""]: readonly string[]): Buffer {
  const column = (name: string, type: number) =>
    Buffer.concat([
      Buffer.from(`${name}\0`),
      int(4, 0),
      int(2, 0),
      int(4, type),
      int(2, -1),
      int(4, -1),
      int(2, 0),
    ]);
  const value = (text: string) => Buffer.concat([int(4, text.length), Buffer.from(text)]);
  return Buffer.concat([
    ...[message("1"), message("t", int(2, 0))],
    message("T", int(2, 2), column("version", INT), column("timeout", TEXT)),
    message("2"),
    message("D", int(2, 2), value(version), value(timeout)),
    ...[message("C", "SELECT 1"), message("Z", Buffer.from("I"))],
  ]);
}

const fatal = (code: string, text: string) =>
  message("E", ...[`SFATAL`, `VFATAL`, `C${code}`, `M${text}`], Buffer.alloc(1));

test.each([
  [
    "refuses settings",
    fatal("08P01", "unsupported startup parameter: bytea_output"),
    [],
    "a pooler in front of it",
  ],
  ["drops settings", READY, ["180004", "0"], "a pooler in front of it"],
  ["is older than 15", READY, ["140017", "5s"], "needs Postgres 15 or later"],
] as const)("a server that %s is refused in one sentence", async (_, started, row, words) => {
  const fault = await awayReason(await standIn(started, row)).catch((error) => error.message);
  expect(fault).toStartWith("The database d at 127.0.0.1:");
  expect(fault).toContain(`cannot be used: `);
  expect(fault).toContain(words);
});

test("the pools of an address with `connection_limit` have as many connections at most", async () => {
  const { databaseUrl } = readGatewayConfig({
    DATABASE_URL: (await testDatabase()).url,
    DATABASE_POOL_MAX: "1",
    ...{ ADMIN_KEY: "tga_0123456789abcdef", MASTER_KEY: "ab".repeat(32) },
  });
  const sql = connect(databaseUrl, { name: "few", max: 4, statementTimeoutMs: 60_000 });
  await Promise.all([1, 2, 3].map(() => sql`select pg_sleep(0.05)`));
  const open =
    await sql`select 1 from pg_stat_activity where application_name = 'tallygate few' and datname = current_database()`;
  expect(open).toHaveLength(1);
  await sql.end();
});

describe("TLS", () => {
  const file = (name: string) => join(import.meta.dir, "../fixtures/tls", name);
  const CERTIFICATE = file("model.test.cert.pem");
  /** A real server behind an end of TLS: the embedded one has none. */
  async function behindTls(): Promise<string> {
    const real = readAddress((await testDatabase()).url);
    const [key, cert] = [readFileSync(file("model.test.key.pem")), readFileSync(CERTIFICATE)];
    const end = createTlsServer({ key, cert, ALPNProtocols: ["postgresql"] }, (socket) => {
      const inner = createConnection(real.socketPath ?? "");
      socket.pipe(inner).pipe(socket);
      const destroyBoth = () => {
        socket.destroy();
        inner.destroy();
      };
      for (const one of [socket, inner]) one.on("error", destroyBoth);
    }).listen(0, "127.0.0.1");
    atEnd(() => void end.close());
    await new Promise((resolve) => end.once("listening", resolve));
    const address = end.address();
    const url = new URL(real.url);
    url.port = String(typeof address === "object" && address ? address.port : 0);
    url.hostname = "127.0.0.1";
    return `${url.href}?sslnegotiation=direct`;
  }
  const outcome = async (url: string) => {
    const sql = connect(url, { name: "tls", max: 1, statementTimeoutMs: 60_000 });
    try {
      return (await sql`select 1 as one`)[0]?.["one"];
    } catch (error) {
      return error instanceof Error && "code" in error ? error.code : String(error);
    } finally {
      await sql.end({ timeout: 0 });
    }
  };

  test("`sslrootcert` is the authority that is checked, and `verify-full` checks the name, too", async () => {
    const url = await behindTls();
    const root = `&sslrootcert=${encodeURIComponent(CERTIFICATE)}`;
    expect(await outcome(`${url}&sslmode=require`)).toBe(1);
    expect(await outcome(`${url}&sslmode=verify-full`)).toMatch(/SELF_SIGNED|UNABLE/);
    expect(await outcome(`${url}${root}`)).toBe(1);
    expect(await outcome(`${url}&sslmode=verify-ca${root}`)).toBe(1);
    expect(await outcome(`${url}&sslmode=verify-full${root}`)).toBe("ERR_TLS_CERT_ALTNAME_INVALID");
  });

  test.each([
    ["sslmode=enforce", "sslmode=enforce in the database's address is unknown. Write one of disable,"],
    [
      "sslrootcert=/no/such.pem",
      "sslrootcert=/no/such.pem in the database's address cannot be read (ENOENT).",
    ],
  ])("%s is refused with what to write", async (words, text) => {
    const fault = await awayReason(`postgres://u:p@127.0.0.1/d?${words}`).catch((error) => error.message);
    expect(fault).toStartWith(text);
  });
});
