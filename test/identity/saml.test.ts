import { beforeAll, describe, expect, test } from "bun:test";
import { scratch } from "#test/support/embedded.ts";
import { longTest } from "#test/support/fault-run.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";
import { longestPause } from "#test/support/longest-pause.ts";
import { testSql } from "#test/support/postgres.ts";
import { isPage, PUBLIC_URL, type TravellingBrowser, travellingBrowser } from "./redirects.ts";
import { type Assertion, ENTRY_POINT, ISSUER, requestIn, signedAnswer, signingKey } from "./saml-provider.ts";

const place = scratch();
const idp = signingKey();
const stranger = signingKey();
const settings = {
  PUBLIC_URL,
  SAML_ENTRY_POINT: ENTRY_POINT,
  SAML_ISSUER: ISSUER,
  SAML_CERTIFICATE: idp.certificate.replaceAll("\n", "\\n"),
};
let gateway: LocalGateway;

beforeAll(async () => {
  gateway = await localGateway({ dataDir: `${place.path}/gateway`, env: settings });
});

/** A browser that has left for the identity provider. */
async function away(next = "/") {
  const browser = travellingBrowser(gateway.url);
  const start = `${PUBLIC_URL}/auth/sign-in/saml?${new URLSearchParams({ next })}`;
  const left = await browser.visit(start, undefined, (url) => url.origin !== PUBLIC_URL || isPage(url));
  return { browser, ...requestIn(new URL(left.url)), address: left.url };
}

/** Posts the provider's form as another site's page does: without a cookie. */
async function posted(SAMLResponse: string, RelayState: string, at = gateway): Promise<URL> {
  const answer = await fetch(`${at.url}/auth/callback/saml`, {
    method: "POST",
    redirect: "manual",
    headers: { origin: "https://idp.example.com" },
    body: new URLSearchParams({ SAMLResponse, RelayState }),
  });
  expect([answer.status, answer.headers.getSetCookie()]).toEqual([303, []]);
  return new URL(answer.headers.get("location") ?? "", PUBLIC_URL);
}

const land = async (browser: TravellingBrowser, at: URL): Promise<URL> =>
  new URL((await browser.visit(at.href, undefined, isPage)).url);

const ofPerson = (name: string, more: Partial<Assertion> = {}) => ({
  nameId: `id-of-${name}`,
  ...more,
  attributes: { email: `${name}@example.com`, displayName: name, ...more.attributes },
});

/** From the start at the gateway to the page where the sign-in ends. */
async function signIn(it: Omit<Assertion, "inResponseTo">, next = "/") {
  const { browser, id, state } = await away(next);
  const answer = await signedAnswer(idp, { inResponseTo: id, ...it });
  return { browser, page: await land(browser, await posted(answer, state)) };
}

const me = async (browser: TravellingBrowser) => {
  const answer = await fetch(`${gateway.url}/v1/me`, { headers: { cookie: browser.cookie() } });
  return answer.status === 200 ? await answer.json() : null;
};

describe("sign-in by SAML", () => {
  test("makes a member of whoever is new, ends at the page asked for, and is in the audit log", async () => {
    const ways = await (await fetch(`${gateway.url}/auth/ways-in`)).json();
    expect(ways.saml).toEqual({ name: "idp.example.com" });
    const { browser, page } = await signIn(ofPerson("ada"), "/reports?range=7d");
    expect(page.href).toBe(`${PUBLIC_URL}/reports?range=7d`);
    expect(await me(browser)).toMatchObject({ email: "ada@example.com", name: "ada", role: "member" });
    const { data } = await gateway.admin<{ data: { action: string; after: { way?: string } | null }[] }>(
      "GET",
      "/audit?actor=ada@example.com",
    );
    expect(data.map(({ action, after }) => [action, after?.way ?? null])).toEqual([
      ["sign_in", "saml"],
      ["person.created", null],
    ]);
  });

  test("asks for an answer to this gateway, and for nothing about how somebody proves who they are", async () => {
    const { xml, address } = await away();
    expect(address).toStartWith(`${ENTRY_POINT}?`);
    expect(xml).toContain(`AssertionConsumerServiceURL="${PUBLIC_URL}/auth/callback/saml"`);
    expect(xml).toContain(`>${PUBLIC_URL}</saml:Issuer>`);
    expect(xml).not.toContain("RequestedAuthnContext");
  });

  test("gives the role and team of the person's groups, at each sign-in", async () => {
    await gateway.admin("PUT", "/teams/search", {});
    await gateway.admin("PUT", "/role-mappings/leads", { role: "manager", team: "search" });
    const lead = ofPerson("lead", { attributes: { groups: ["everyone", "leads"] } });
    expect(await me((await signIn(lead)).browser)).toMatchObject({ role: "manager", team: "search" });
    await gateway.admin("PUT", "/role-mappings/leads", { role: "administrator" });
    expect(await me((await signIn(lead)).browser)).toMatchObject({ role: "administrator" });
  });

  longTest("identity/saml (the role and team of groups)")(
    "reads a thousand groups, as providers write them",
    async () => {
      await gateway.admin("PUT", "/role-mappings/last", { role: "manager" });
      const groups = [...Array.from({ length: 999 }, (_, it) => `group ${it}`), "last"];
      const { browser } = await signIn(ofPerson("many", { attributes: { groups } }));
      expect(await me(browser)).toMatchObject({ role: "manager" });
    },
  );

  test("belongs to the account there: with another e-mail it is the same person", async () => {
    await signIn(ofPerson("before"));
    const it = ofPerson("before", { attributes: { email: "after@example.com" } });
    expect(await me((await signIn(it)).browser)).toMatchObject({ email: "before@example.com" });
  });

  test.each([
    ["mail", {}],
    ["http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress", {}],
  ])("takes the e-mail from the attribute %s", async (name, more) => {
    const email = `${name.length}@example.com`;
    const { browser } = await signIn({ nameId: email, attributes: { [name]: email }, ...more });
    expect((await me(browser)).email).toBe(email);
  });

  longTest("identity/saml (makes a member), identity/takeover")(
    "takes the e-mail from a name of that format, and from no other",
    async () => {
      const format = "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress";
      const named = await signIn({ nameId: "named@example.com", format, attributes: {} });
      expect((await me(named.browser)).email).toBe("named@example.com");
      const other = await signIn({ nameId: "other@example.com", attributes: {} });
      expect([other.page.searchParams.get("error"), await me(other.browser)]).toEqual([
        "email_missing",
        null,
      ]);
    },
  );

  test("refuses who is disabled", async () => {
    const { id } = await gateway.admin<{ id: string }>("POST", "/people", { email: "gone@example.com" });
    await gateway.admin("DELETE", `/people/${id}`);
    const { browser, page } = await signIn(ofPerson("gone"));
    expect([page.searchParams.get("error"), await me(browser)]).toEqual(["person_disabled", null]);
  });
});

describe("an answer", () => {
  /** Where a sign-in ends that is answered so. */
  const ended = async (make: (id: string) => Promise<string>) => {
    const { browser, id, state } = await away();
    const page = await land(browser, await posted(await make(id), state));
    return [page.pathname, page.searchParams.get("error"), await me(browser)];
  };
  const REFUSED = ["/sign-in", "invalid_answer", null];

  test.each<[string, Partial<Assertion>]>([
    ["of another issuer", { issuer: "https://evil.example.com" }],
    ["for another gateway", { audience: "https://other.example.com" }],
    ["for another address", { recipient: "https://other.example.com/acs" }],
    ["to another request", { inResponseTo: "_another" }],
    ["that is over", { minutes: -2 }],
  ])("%s is refused", async (_, more) => {
    const make = (id: string) => signedAnswer(idp, { inResponseTo: id, ...ofPerson("eve"), ...more });
    expect(await ended(make)).toEqual(REFUSED);
  });

  test("signed by another key, changed, or not signed is refused", async () => {
    const good = (id: string) => signedAnswer(idp, { inResponseTo: id, ...ofPerson("eve") });
    const edited = async (id: string, edit: (xml: string) => string) =>
      Buffer.from(edit(Buffer.from(await good(id), "base64").toString())).toString("base64");
    expect(await ended((id) => signedAnswer(stranger, { inResponseTo: id, ...ofPerson("eve") }))).toEqual(
      REFUSED,
    );
    expect(
      await ended((id) => edited(id, (xml) => xml.replace("eve@example.com", "ada@example.com"))),
    ).toEqual(REFUSED);
    expect(
      await ended((id) => edited(id, (xml) => xml.replace(/<ds:Signature[\s\S]*<\/ds:Signature>/, ""))),
    ).toEqual(REFUSED);
    for (const text of ["", "x", Buffer.from("<a/>").toString("base64")]) {
      expect(await ended(async () => text)).toEqual(REFUSED);
    }
  });

  test("to another request is refused, whatever the unsigned response around it says", async () => {
    const make = async (id: string) => {
      const answer = await signedAnswer(idp, { ...ofPerson("eve"), inResponseTo: "_another" });
      const xml = Buffer.from(answer, "base64").toString();
      const edited = xml.replace('InResponseTo="_another"', `InResponseTo="${id}"`);
      expect(edited.split(id)).toHaveLength(2);
      return Buffer.from(edited).toString("base64");
    };
    expect(await ended(make)).toEqual(REFUSED);
  });

  test("with a second assertion beside the signed one is refused", async () => {
    const wrapped = (place: (signed: string, forged: string) => string) =>
      ended(async (id) => {
        const answer = await signedAnswer(idp, { inResponseTo: id, ...ofPerson("eve") });
        const xml = Buffer.from(answer, "base64").toString();
        const [signed = ""] = /<saml:Assertion[\s\S]*<\/saml:Assertion>/.exec(xml) ?? [];
        const forged = signed
          .replace(/<ds:Signature[\s\S]*<\/ds:Signature>/, "")
          .replace(/ID="_assertion[^"]*"/, 'ID="_forged"')
          .replaceAll("eve@example.com", "ada@example.com");
        expect(forged).toContain("ada@example.com");
        return Buffer.from(xml.replace(signed, place(signed, forged))).toString("base64");
      });
    expect(await wrapped((signed, forged) => forged + signed)).toEqual(REFUSED);
    expect(await wrapped((signed, forged) => signed + forged)).toEqual(REFUSED);
    expect(
      await wrapped((signed, forged) =>
        forged.replace("</saml:Assertion>", `<saml:Advice>${signed}</saml:Advice></saml:Assertion>`),
      ),
    ).toEqual(REFUSED);
  });

  test("counts once, in the browser that asked, within its minute", async () => {
    const { browser, id, state } = await away();
    const at = await posted(await signedAnswer(idp, { inResponseTo: id, ...ofPerson("once") }), state);
    const stolen = await land(travellingBrowser(gateway.url), at);
    expect(stolen.searchParams.get("error")).toBe("state_mismatch");
    expect((await land(browser, at)).pathname).toBe("/");
    expect((await me(browser)).email).toBe("once@example.com");
    expect((await land(browser, at)).searchParams.get("error")).toBe("state_mismatch");

    const late = await away();
    const sent = await posted(
      await signedAnswer(idp, { inResponseTo: late.id, ...ofPerson("late") }),
      late.state,
    );
    const sql = testSql(gateway.databaseUrl);
    await sql`update sign_in_verifications set expires_at = now() - interval '1 second'`;
    expect((await land(late.browser, sent)).searchParams.get("error")).toBe("invalid_answer");
  });

  test("posted again is refused, also by another gateway on the database, in the browser that asked", async () => {
    const { browser, id, state } = await away();
    const answer = await signedAnswer(idp, { inResponseTo: id, ...ofPerson("replay") });
    const first = await posted(answer, state);
    expect(first.searchParams.has("code")).toBe(true);
    const { databaseUrl } = gateway;
    const other = await localGateway({ dataDir: `${place.path}/other`, databaseUrl, env: settings });
    for (const at of [gateway, other]) {
      expect((await posted(answer, state, at)).searchParams.get("error")).toBe("invalid_answer");
    }
    expect((await land(browser, first)).pathname).toBe("/");
    expect((await me(browser)).email).toBe("replay@example.com");
  });

  const RESPONSE = 'xmlns="urn:oasis:names:tc:SAML:2.0:protocol" ID="_answer"';
  test.each([
    ["many elements", `<Response ${RESPONSE}>${"<a/>".repeat(80_000)}</Response>`],
    ["elements that do not end", "<a>".repeat(80_000)],
    ["many attributes", `<Response ${Array.from({ length: 20_000 }, (_, it) => `a${it}=''`).join(" ")}/>`],
    ["nested namespaces", Array.from({ length: 2990 }, (_, it) => `<a xmlns:n${it}="x">`).join("")],
    ["as many elements as are read", `<Response ${RESPONSE}>${'<a ID="b"/>'.repeat(2900)}</Response>`],
    ["entities", '<!DOCTYPE a [<!ENTITY b "bbbbbbbbbb">]><a>&b;</a>'],
  ])("of %s holds up no other call", async (_, xml) => {
    await (await fetch(`${gateway.url}/healthz`)).text();
    const answered = posted(Buffer.from(xml).toString("base64"), "none");
    const pause = await longestPause(answered);
    expect((await answered).searchParams.get("error")).toBe("invalid_answer");
    expect(pause).toBeLessThan(400);
  });

  test("that nobody asked for signs nobody in, and leaves no assertion and no code in the database", async () => {
    const answer = await signedAnswer(idp, { inResponseTo: "_unasked", ...ofPerson("unasked") });
    const at = await posted(answer, "no-state");
    const page = await land(travellingBrowser(gateway.url), at);
    expect(page.searchParams.get("error")).toBe("state_mismatch");
    const sql = testSql(gateway.databaseUrl);
    const rows = JSON.stringify(await sql`select * from sign_in_verifications`);
    expect(rows).not.toContain(at.searchParams.get("code") ?? "?");
    expect(rows).not.toContain("Assertion");
  });
});
