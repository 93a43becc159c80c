import { beforeAll, describe, expect, test } from "bun:test";
import { scratch } from "#test/support/embedded.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";
import { testSql } from "#test/support/postgres.ts";
import { linkFor, redeem, signIn, tokenOf } from "./browser.ts";

const place = scratch();
let gateway: LocalGateway;

beforeAll(async () => {
  gateway = await localGateway({ dataDir: `${place.path}/sign-in` });
});

describe("the first administrator", () => {
  test("is nobody whom a link names, or who signs in meanwhile", async () => {
    const link = await gateway.admin<{ url: string }>("POST", "/sign-in-links", {
      email: "named@example.com",
      role: "member",
    });
    const answer = await redeem(gateway, { token: tokenOf(link.url) });
    expect(await answer.json()).toEqual({ email: "named@example.com", role: "member" });
    for (const body of [{ email: "x@example.com", role: "administrator" }, { role: "member" }]) {
      await expect(gateway.admin("POST", "/sign-in-links", body)).rejects.toThrow("400");
    }
  });

  test("signs in by a link that names nobody, and after that no such link counts or is made", async () => {
    const first = await linkFor(gateway, null);
    const second = await linkFor(gateway, null);
    expect(new URL(first).pathname).toBe("/sign-in");
    const signedIn = await redeem(gateway, { token: tokenOf(first), email: "Ada@Example.com" });
    expect([signedIn.status, await signedIn.json()]).toEqual([
      200,
      { email: "ada@example.com", role: "administrator" },
    ]);
    expect((await redeem(gateway, { token: tokenOf(second), email: "eve@example.com" })).status).toBe(401);
    await expect(linkFor(gateway, null)).rejects.toThrow("422");
  });
});

describe("a one-time link", () => {
  test("is not used up by opening it, works once, and makes a member of whoever is new", async () => {
    const link = await linkFor(gateway, "bob@example.com");
    for (let opened = 0; opened < 3; opened++) {
      await (await fetch(`${gateway.url}/sign-in?token=${tokenOf(link)}`)).text();
    }
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => redeem(gateway, { token: tokenOf(link) })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401, 401]);
    const signedIn = answers.find(({ status }) => status === 200);
    expect(await signedIn?.json()).toEqual({ email: "bob@example.com", role: "member" });
  });

  test("names its person: another e-mail in the body does not count", async () => {
    const link = await linkFor(gateway, "carol@example.com");
    const answer = await redeem(gateway, { token: tokenOf(link), email: "ada@example.com" });
    expect(await answer.json()).toEqual({ email: "carol@example.com", role: "member" });
  });

  test("works as a form without scripts", async () => {
    const token = tokenOf(await linkFor(gateway, "dora@example.com"));
    const answer = await fetch(`${gateway.url}/auth/sign-in/link`, {
      method: "POST",
      redirect: "manual",
      headers: { origin: gateway.url },
      body: new URLSearchParams({ token }),
    });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/"]);
    expect(answer.headers.getSetCookie().length).toBe(1);
  });

  test("is refused once its 15 minutes are over", async () => {
    const token = tokenOf(await linkFor(gateway, "late@example.com"));
    const sql = testSql(gateway.databaseUrl);
    const [row] = await sql`
      update sign_in_verifications set expires_at = now() - interval '1 second'
      where value = 'late@example.com' returning extract(epoch from expires_at - created_at) as seconds`;
    expect(row).toBeDefined();
    expect((await redeem(gateway, { token })).status).toBe(401);
  });

  test.each(["", "x", "tgl_short", `tgl_${"a".repeat(43)}`, "a".repeat(201), "'; drop table people; --"])(
    "a wrong token is refused and not repeated: %p",
    async (token) => {
      const answer = await redeem(gateway, { token });
      expect([400, 401]).toContain(answer.status);
      if (token.length > 3) expect(await answer.text()).not.toContain(token);
    },
  );

  test("has its request's id in the answer and in each entry in the audit log", async () => {
    const token = tokenOf(await linkFor(gateway, "hugo@example.com"));
    const id = (await redeem(gateway, { token })).headers.get("x-request-id");
    const { data } = await gateway.admin<{ data: { action: string; request_id: string }[] }>(
      "GET",
      "/audit?actor=hugo@example.com",
    );
    expect(data.map(({ action, request_id }) => [action, request_id])).toEqual([
      ["sign_in", id ?? "none"],
      ["person.created", id ?? "none"],
    ]);
  });

  test("neither its token nor a session's is in the database or the log", async () => {
    const link = await linkFor(gateway, "erin@example.com");
    const browser = await signIn(gateway, "frank@example.com");
    const sql = testSql(gateway.databaseUrl);
    const secrets = [tokenOf(link), decodeURIComponent(browser.cookie).split(/[=.]/)[1] ?? ""];
    expect(secrets.map((secret) => secret.slice(0, 4))).toEqual(["tgl_", "tgs_"]);
    for (const table of ["sign_in_verifications", "person_sessions", "audit_entries", "people"]) {
      const rows = JSON.stringify(await sql`select * from ${sql(table)}`);
      for (const secret of secrets) expect([table, rows.includes(secret)]).toEqual([table, false]);
    }
    const log = gateway.log();
    for (const secret of secrets) expect(log).not.toContain(secret);
  });
});

describe("guessing", () => {
  test("is answered 429 from the tenth wrong link of an address on, and a right link still signs in", async () => {
    const strict = await localGateway({
      dataDir: `${place.path}/strict`,
      env: { REFUSALS_PER_MINUTE: "10" },
    });
    const token = tokenOf(await linkFor(strict, "gina@example.com"));
    const wrong = () => redeem(strict, { token: `tgl_${"b".repeat(43)}` });
    const statuses: number[] = [];
    for (let guess = 0; guess < 12; guess++) statuses.push((await wrong()).status);
    expect(statuses).toEqual([...Array(9).fill(401), 429, 429, 429]);
    expect((await wrong()).headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
    expect((await redeem(strict, { token })).status).toBe(200);
    const metrics = await fetch(`${strict.url}/metrics`, {
      headers: { authorization: "Bearer tga_test-admin-key-of-the-suite-0000000000000000" },
    });
    expect(await metrics.text()).toContain('tallygate_refused_credentials_total{kind="sign_in_link"} 13');
    const { data } = await strict.admin<{ data: { actor: string }[] }>("GET", "/audit?action=sign_in.failed");
    expect(data.map(({ actor }) => actor)).toEqual(Array(9).fill("unknown"));
  });
});
