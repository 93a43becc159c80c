import { expect, test } from "bun:test";
import { createServer } from "node:net";
import { refusalOf, untilReachable } from "#drizzle/reach.ts";
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
