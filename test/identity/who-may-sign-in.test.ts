import { beforeAll, describe, expect, test } from "bun:test";
import { scratch } from "#test/support/embedded.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";
import { claimsIssuer, signInWith } from "./claims.ts";
import type { HostileIssuer } from "./hostile-issuer.ts";
import { PUBLIC_URL, travellingBrowser } from "./redirects.ts";

const place = scratch();

describe("the settings", () => {
  let issuer: HostileIssuer;
  let gateway: LocalGateway;
  beforeAll(async () => {
    const made = await claimsIssuer();
    issuer = made.issuer;
    gateway = await localGateway({ dataDir: `${place.path}/rules`, env: made.env });
  });
  const rule = (sign_in: object) => gateway.admin("PATCH", "/settings", { sign_in });
  const signIn = async (sub: string, email: string, groups: string[] = []) =>
    (await signInWith(gateway, issuer, { sub, email, groups })).error;

  test("let in who has an address of their domains, spelled in any way, and nobody else", async () => {
    await rule({ allowed_domains: ["Example.com", "b\u00FCcher.example"] });
    expect(await signIn("1", "ada@example.com")).toBeNull();
    expect(await signIn("2", "ada@xn--bcher-kva.example")).toBeNull();
    for (const email of ["eve@evil.example.com", "eve@example.com.evil.test", "eve@notexample.com"]) {
      expect([email, await signIn(email, email)]).toEqual([email, "domain_not_allowed"]);
    }
    const { data } = await gateway.admin<{ data: object[] }>("GET", "/people?email=eve@notexample.com");
    expect(data).toEqual([]);
    expect(await signIn("1", "ada@elsewhere.test")).toBe("domain_not_allowed");
  });

  test("let in who is in one of their groups, and only so long", async () => {
    await rule({ required_groups: ["staff", "leads"] });
    expect(await signIn("3", "bob@example.com", ["other", "leads"])).toBeNull();
    expect(await signIn("4", "cid@example.com", ["other"])).toBe("group_missing");
    expect(await signIn("3", "bob@example.com", ["other"])).toBe("group_missing");
    await rule({ allowed_domains: ["example.com"], required_groups: ["staff"] });
    expect(await signIn("5", "dan@elsewhere.test", ["staff"])).toBe("domain_not_allowed");
    expect(await signIn("6", "dan@example.com", ["staff"])).toBeNull();
    await rule({});
    expect(await signIn("7", "eva@anywhere.test")).toBeNull();
  });

  test("name domains and groups", async () => {
    for (const wrong of [
      { allowed_domains: ["a@example.com"] },
      { allowed_domains: ["localhost"] },
      { allowed_domains: ["*.example.com"] },
      { allowed_domains: [] },
      { domains: ["example.com"] },
    ]) {
      await expect(rule(wrong)).rejects.toThrow("400");
    }
  });
});

describe("a way where anyone can have an account", () => {
  const start = (name: string, env: Record<string, string>) =>
    localGateway({ dataDir: `${place.path}/${name}`, env: { PUBLIC_URL, ...env } });
  const said = async ({ url }: LocalGateway) => ({
    ways: await (await fetch(`${url}/auth/ways-in`)).json(),
    ready: await (await fetch(`${url}/readyz`)).json(),
  });
  const OIDC = { OIDC_CLIENT_ID: "id", OIDC_CLIENT_SECRET: "secret" };

  test.each([
    "https://accounts.google.com",
    "https://login.microsoftonline.com/common/v2.0",
    "https://login.microsoftonline.com/organizations/v2.0",
  ])("is off without a rule, and the gateway serves: %s", async (issuer) => {
    const gateway = await start(new URL(issuer).pathname.slice(1, 9) || "google", {
      ...OIDC,
      OIDC_ISSUER: issuer,
    });
    const { ways, ready } = await said(gateway);
    const reason = expect.stringContaining("sign_in.allowed_domains");
    expect([ways.oidc, ways.off]).toEqual([null, [{ way: "oidc", reason }]]);
    // A busy Postgres may count as away for a moment.
    expect(ready).toMatchObject({ status: "ready", reasons: expect.arrayContaining([reason]) });
    expect(gateway.log()).toContain("a way to sign in is off");
    const page = await travellingBrowser(gateway.url).visit(
      `${PUBLIC_URL}/auth/sign-in/oidc`,
      undefined,
      (url) => url.pathname.startsWith("/sign-in"),
    );
    expect(page.url).toContain("error=way_off");
    await gateway.admin("PATCH", "/settings", { sign_in: { allowed_domains: ["example.com"] } });
    const after = await said(gateway);
    expect([after.ways.oidc?.name, after.ways.off, after.ready.reasons]).toEqual([
      new URL(issuer).host,
      [],
      [],
    ]);
  });

  test("is not one's own tenant", async () => {
    const issuer = "https://login.microsoftonline.com/11111111-2222-3333-4444-555555555555/v2.0";
    const { ways } = await said(await start("tenant", { ...OIDC, OIDC_ISSUER: issuer }));
    expect([ways.oidc, ways.off]).toEqual([{ name: "login.microsoftonline.com" }, []]);
  });

  test("is github.com without an organisation", async () => {
    const gateway = await start("github", { GITHUB_CLIENT_ID: "id", GITHUB_CLIENT_SECRET: "secret" });
    const { ways, ready } = await said(gateway);
    const reason = expect.stringContaining("no organisation");
    expect([ways.github, ways.off, ready.reasons]).toEqual([false, [{ way: "github", reason }], [reason]]);
  });
});
