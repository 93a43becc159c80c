import { beforeAll, describe, expect, test } from "bun:test";
import { scratch } from "#test/support/embedded.ts";
import { ADMIN_KEY } from "#test/support/gateway-process.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";
import { testSql } from "#test/support/postgres.ts";
import { linkFor, redeem, signIn as signInByLink, tokenOf } from "./browser.ts";
import { claimsIssuer, signInWith } from "./claims.ts";
import type { HostileIssuer } from "./hostile-issuer.ts";

// Who signs in elsewhere is known by the account there; an e-mail names a person only until there is one.

const place = scratch();
let issuer: HostileIssuer;
let gateway: LocalGateway;

beforeAll(async () => {
  const made = await claimsIssuer();
  issuer = made.issuer;
  gateway = await localGateway({ dataDir: `${place.path}/one`, env: made.env });
});

const signIn = (sub: string, email: string, more: object = {}) =>
  signInWith(gateway, issuer, { sub, email, ...more });

type Account = { id: string; way: string; issuer: string | null; account_id: string };
async function accounts(email: string): Promise<{ path: string; data: Account[] }> {
  const people = await gateway.admin<{ data: { id: string }[] }>("GET", `/people?email=${email}`);
  const path = `/people/${people.data[0]?.id}/accounts`;
  return { path, ...(await gateway.admin<{ data: Account[] }>("GET", path)) };
}

describe("an e-mail", () => {
  test("of a person who has an account there already is refused to another account", async () => {
    await gateway.admin("POST", "/people", { email: "root@example.com", role: "administrator" });
    expect((await signIn("1", "root@example.com")).me).toMatchObject({ role: "administrator" });
    expect(await signIn("2", "root@example.com")).toEqual({ error: "other_account", me: null });
    const { data } = await gateway.admin<{ data: object[] }>("GET", "/audit?action=sign_in.failed&limit=1");
    expect(data[0]).toMatchObject({ actor: "root@example.com", after: { cause: "other_account" } });
    expect((await signIn("1", "renamed@example.com")).me).toMatchObject({ email: "root@example.com" });
  });

  test.each([
    ["\u212Aim@example.com", "kim@example.com"],
    ["kim@\u212Aelvin.example.com", "kim@kelvin.example.com"],
    ["i\u0307da@example.com", "ida@example.com"],
    ["\uFF4Bim@example.com", "kim@example.com"],
  ])("%p is not %p", async (spoofed, real) => {
    await gateway.admin("POST", "/people", { email: real, role: "administrator" }).catch(() => null);
    expect(await signIn(`spoof ${spoofed}`, spoofed)).toEqual({ error: "email_unusual", me: null });
    const { data } = await gateway.admin<{ data: object[] }>(
      "GET",
      `/people?email=${encodeURIComponent(spoofed)}`,
    );
    expect(data).toEqual([]);
  });

  test("is the same in the domain's other spelling", async () => {
    await gateway.admin("POST", "/people", { email: "ana@b\u00FCcher.example", role: "manager" });
    expect((await signIn("ana", "Ana@xn--bcher-kva.example")).me).toMatchObject({ role: "manager" });
  });

  test("of a key's owner in other letters opens nothing of the person's", async () => {
    await signInByLink(gateway, "mark@example.com");
    const key = { name: "spoofed", owner: "mar\u212A@example.com" };
    const { secret } = await gateway.admin<{ secret: string }>("POST", "/keys", key);
    const me = await fetch(`${gateway.url}/v1/me`, { headers: { authorization: `Bearer ${secret}` } });
    expect(((await me.json()) as { email: string }).email).not.toBe("mark@example.com");
  });

  test("of a person added beforehand links the first account, with an audit entry, whoever signed in by link", async () => {
    expect((await redeem(gateway, { token: tokenOf(await linkFor(gateway, "lin@example.com")) })).ok).toBe(
      true,
    );
    expect((await signIn("lin", "lin@example.com")).me).toMatchObject({ email: "lin@example.com" });
    const { data } = await gateway.admin<{ data: object[] }>("GET", "/audit?action=account.linked&limit=1");
    expect(data[0]).toMatchObject({
      actor: "lin@example.com",
      after: { issuer: issuer.url, account_id: "lin" },
    });
  });
});

describe("another issuer", () => {
  test("knows nobody of the first one, until an administrator unlinks them", async () => {
    await gateway.admin("POST", "/people", { email: "boss@example.com", role: "administrator" });
    await signIn("17", "boss@example.com");
    const other = await claimsIssuer();
    const { databaseUrl } = gateway;
    const moved = await localGateway({ dataDir: `${place.path}/two`, databaseUrl, env: other.env });
    const enter = (sub: string, email: string) => signInWith(moved, other.issuer, { sub, email });
    expect((await enter("17", "stranger@example.com")).me).toMatchObject({
      email: "stranger@example.com",
      role: "member",
    });
    expect(await enter("18", "boss@example.com")).toEqual({ error: "other_account", me: null });
    const { path, data } = await accounts("boss@example.com");
    expect(data).toMatchObject([{ way: "oidc", issuer: issuer.url, account_id: "17" }]);
    await gateway.admin("DELETE", `${path}/${data[0]?.id}`);
    expect((await enter("18", "boss@example.com")).me).toMatchObject({ role: "administrator" });
    expect((await accounts("boss@example.com")).data).toMatchObject([{ issuer: other.issuer.url }]);
  });

  test("an account that moves signs the other person in, who has no other of that way", async () => {
    await signIn("moving", "before@example.com");
    const session = await signInByLink(gateway, "before@example.com");
    await gateway.admin("POST", "/people", { email: "after@example.com", role: "manager" });
    await signIn("settled", "settled@example.com");
    const { path, data } = await accounts("before@example.com");
    const move = (email: string) => gateway.admin("PATCH", `${path}/${data[0]?.id}`, { email });
    await expect(move("nobody@example.com")).rejects.toThrow("400");
    await expect(move("settled@example.com")).rejects.toThrow("422");
    await move("After@example.com");
    expect((await session.send("GET", "/v1/me")).status).toBe(401);
    expect((await signIn("moving", "before@example.com")).me).toMatchObject({ email: "after@example.com" });
    expect((await accounts("before@example.com")).data).toEqual([]);
    const { data: audit } = await gateway.admin<{ data: object[] }>("GET", "/audit?action=account.moved");
    expect(audit).toMatchObject([
      { subject: "after@example.com", before: { person: "before@example.com", account_id: "moving" } },
    ]);
  });

  test("the command unlinks by e-mail, and the person's sessions end", async () => {
    const browser = await signInByLink(gateway, "cli@example.com");
    await signIn("old", "cli@example.com");
    const run = async (...words: string[]) => {
      const made = Bun.spawn([process.execPath, "gateway/cli/tallygate.ts", "people", "unlink", ...words], {
        env: { ...process.env, ADMIN_KEY, TALLYGATE_URL: gateway.url },
        stderr: "pipe",
      });
      return { code: await made.exited, said: await new Response(made.stderr).text() };
    };
    expect((await run("cli@example.com", "--way", "saml")).code).toBe(1);
    expect(await run("cli@example.com")).toEqual({
      code: 0,
      said: `tallygate: unlinked oidc old at ${issuer.url}.\n`,
    });
    expect((await browser.send("GET", "/v1/me")).status).toBe(401);
    expect((await signIn("new", "cli@example.com")).me).toMatchObject({ email: "cli@example.com" });
  });
});

describe("accounts of an earlier version", () => {
  test("belong to the issuer that is configured at the next start, and to none of a way that is not", async () => {
    await signIn("kept", "kept@example.com");
    const sql = testSql(gateway.databaseUrl);
    await sql`update sign_in_accounts set issuer = null where account_id = 'kept'`;
    await sql`insert into sign_in_accounts (id, person_id, provider_id, account_id, created_at, updated_at)
      select gen_random_uuid(), person_id, 'saml', 'kept', now(), now() from sign_in_accounts where account_id = 'kept'`;
    const { databaseUrl } = gateway;
    const env = {
      PUBLIC_URL: "http://gateway.test",
      OIDC_ISSUER: `${issuer.url}/`,
      OIDC_CLIENT_ID: "x",
      OIDC_CLIENT_SECRET: "y",
    };
    await localGateway({ dataDir: `${place.path}/three`, databaseUrl, env });
    const rows =
      await sql`select provider_id, issuer from sign_in_accounts where account_id = 'kept' order by 1`;
    expect([...rows]).toEqual([
      { provider_id: "oidc", issuer: issuer.url },
      { provider_id: "saml", issuer: "" },
    ]);
    const { data } = await gateway.admin<{ data: object[] }>("GET", "/audit?action=account.issuer_set");
    expect(data).toMatchObject([
      { actor: "environment", subject: expect.any(String) },
      { actor: "environment", subject: expect.any(String) },
    ]);
    expect((await signIn("kept", "kept@example.com")).me).toMatchObject({ email: "kept@example.com" });
  });
});
