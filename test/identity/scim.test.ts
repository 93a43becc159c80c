import { beforeAll, describe, expect, test } from "bun:test";
import { scratch } from "#test/support/embedded.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";
import { until } from "#test/support/until.ts";
import { type Browser, signIn } from "./browser.ts";

// The requests of Okta's and Entra's provisioning, as their documentation shows them.

const USER = "urn:ietf:params:scim:schemas:core:2.0:User";
const ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";
const PATCH_OP = "urn:ietf:params:scim:api:messages:2.0:PatchOp";
const ERROR = "urn:ietf:params:scim:api:messages:2.0:Error";

const place = scratch();
let gateway: LocalGateway;
let secret: string;

beforeAll(async () => {
  gateway = await localGateway({ dataDir: `${place.path}/gateway` });
  secret = await token("directory", "administrator");
});

async function token(name: string, role: string): Promise<string> {
  const body = { name, role };
  return (await gateway.admin<{ secret: string }>("POST", "/tokens", body)).secret;
}

async function ask(method: string, path: string, body?: unknown, by = secret) {
  const answer = await fetch(`${gateway.url}/scim/v2${path}`, {
    method,
    headers: { authorization: `Bearer ${by}`, "content-type": "application/scim+json; charset=utf-8" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, type: answer.headers.get("content-type"), body: text && JSON.parse(text) };
}

const find = (userName: string) =>
  ask("GET", `/Users?filter=${encodeURIComponent(`userName eq "${userName}"`)}&startIndex=1&count=100`);
const patch = (id: string, ...operations: object[]) =>
  ask("PATCH", `/Users/${id}`, { schemas: [PATCH_OP], Operations: operations });

const meStatus = async (browser: Browser) => (await browser.send("GET", "/v1/me")).status;
const keyStatus = async (key: string) =>
  (await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).status;

/** A person at work: a session, and a key of their own. */
async function atWork(email: string) {
  const browser = await signIn(gateway, email);
  const made = await (await browser.send("POST", "/v1/me/keys", { name: "laptop" })).json();
  return { browser, key: made.secret as string };
}

async function expectShutOut({ browser, key }: Awaited<ReturnType<typeof atWork>>) {
  expect(await meStatus(browser)).toBe(401);
  await until(async () => (await keyStatus(key)) === 401);
}

describe("Okta", () => {
  const user = {
    schemas: [USER],
    userName: "Test.User@okta.local",
    name: { givenName: "Test", familyName: "User" },
    emails: [{ primary: true, value: "test.user@okta.local", type: "work" }],
    displayName: "Test User",
    locale: "en-US",
    externalId: "00ujl29u0le5T6Aj10h7",
    groups: [],
    password: "1mz050nq",
    active: true,
  };

  test("looks for a person, adds them, reads and replaces them, and switches them off and on", async () => {
    expect((await find("test.user@okta.local")).body).toMatchObject({ totalResults: 0, Resources: [] });
    const made = await ask("POST", "/Users", user);
    expect([made.status, made.type]).toEqual([201, "application/scim+json"]);
    expect(made.body).toMatchObject({
      schemas: [USER],
      userName: "test.user@okta.local",
      displayName: "Test User",
      active: true,
      meta: { resourceType: "User", location: `${gateway.url}/scim/v2/Users/${made.body.id}` },
    });
    expect(JSON.stringify(made.body)).not.toContain("1mz050nq");
    expect((await find("TEST.USER@okta.local")).body.Resources).toEqual([made.body]);

    const { id } = made.body;
    const renamed = { ...user, id, displayName: "Another Name" };
    expect((await ask("PUT", `/Users/${id}`, renamed)).body.displayName).toBe("Another Name");
    const person = await atWork("test.user@okta.local");
    const off = await patch(id, { op: "replace", value: { active: false } });
    expect([off.status, off.body.active]).toEqual([200, false]);
    await expectShutOut(person);
    expect((await find("test.user@okta.local")).body.Resources[0].active).toBe(false);
    expect((await patch(id, { op: "replace", value: { active: true } })).body.active).toBe(true);
    expect(await meStatus(await signIn(gateway, "test.user@okta.local"))).toBe(200);
  });

  test("replaces a person with one who is not active", async () => {
    const { id } = (await ask("POST", "/Users", { ...user, userName: "put@okta.local" })).body;
    const person = await atWork("put@okta.local");
    // Names that were copied often bring marks that turn text.
    const gone = { ...user, userName: "put@okta.local", displayName: "\u202aA\u202c B", active: false };
    expect((await ask("PUT", `/Users/${id}`, gone)).body).toMatchObject({
      displayName: "A B",
      active: false,
    });
    await expectShutOut(person);
  });

  test("adds a person a second time: 409", async () => {
    const again = { ...user, userName: "twice@okta.local" };
    expect((await ask("POST", "/Users", again)).status).toBe(201);
    const refused = await ask("POST", "/Users", { ...again, userName: "Twice@Okta.local" });
    expect([refused.status, refused.body]).toEqual([
      409,
      {
        schemas: [ERROR],
        status: "409",
        scimType: "uniqueness",
        detail: "A person with this userName exists.",
      },
    ]);
  });
});

describe("Entra", () => {
  const user = (userName: string) => ({
    schemas: [USER, ENTERPRISE],
    externalId: "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef",
    userName,
    active: true,
    emails: [{ primary: true, type: "work", value: userName }],
    meta: { resourceType: "User" },
    name: { formatted: "givenName familyName", familyName: "familyName", givenName: "givenName" },
    roles: [],
    [ENTERPRISE]: { department: "Tour Operations" },
  });

  test("adds a person, changes attributes by path, and switches off with the text False", async () => {
    const made = await ask("POST", "/Users", user("entra@contoso.com"));
    expect([made.status, made.body.displayName]).toEqual([201, "givenName familyName"]);
    const { id } = made.body;
    const changed = await patch(
      id,
      { op: "Replace", path: 'emails[type eq "work"].value', value: "other@contoso.com" },
      { op: "Replace", path: "name.familyName", value: "updatedFamilyName" },
      { op: "Add", path: "displayName", value: "Updated Name" },
      { op: "Add", path: `${ENTERPRISE}:department`, value: "Sales" },
    );
    expect([changed.status, changed.body]).toEqual([
      200,
      expect.objectContaining({ displayName: "Updated Name" }),
    ]);
    expect(changed.body.userName).toBe("entra@contoso.com");
    const person = await atWork("entra@contoso.com");
    const off = await patch(id, { op: "Replace", path: "active", value: "False" });
    expect([off.status, off.body.active]).toEqual([200, false]);
    await expectShutOut(person);
    expect((await patch(id, { op: "Replace", path: "active", value: "True" })).body.active).toBe(true);
  });

  test("deletes a person, who is disabled and stays readable", async () => {
    const { id } = (await ask("POST", "/Users", user("gone@contoso.com"))).body;
    const person = await atWork("gone@contoso.com");
    expect((await ask("DELETE", `/Users/${id}`)).status).toBe(204);
    await expectShutOut(person);
    expect((await ask("GET", `/Users/${id}`)).body).toMatchObject({
      userName: "gone@contoso.com",
      active: false,
    });
    expect((await ask("DELETE", `/Users/${id}`)).status).toBe(204);
  });

  test("tests its connection with a random name, and reads what is supported", async () => {
    const { status, body } = await find("8f3a1f0c-6a5e-4b1e-9c55-1f1f0d3e6f11");
    expect([status, body.totalResults]).toEqual([200, 0]);
    const config = await ask("GET", "/ServiceProviderConfig");
    expect(config.body).toMatchObject({ patch: { supported: true }, bulk: { supported: false } });
  });
});

describe("a list", () => {
  test("is paged from 1, oldest first, with the number of all", async () => {
    const { data } = await gateway.admin<{ data: { email: string }[] }>("GET", "/people?limit=500");
    const emails = data.map(({ email }) => email).reverse();
    const page = async (query: string) => (await ask("GET", `/Users?${query}`)).body;
    const second = await page("startIndex=2&count=2");
    expect(second).toMatchObject({ totalResults: emails.length, startIndex: 2, itemsPerPage: 2 });
    expect(second.Resources.map(({ userName }: { userName: string }) => userName)).toEqual(
      emails.slice(1, 3),
    );
    expect(await page("startIndex=0&count=0")).toMatchObject({ startIndex: 1, Resources: [] });
    expect((await page("startIndex=999")).Resources).toEqual([]);
  });
});

describe("a refusal", () => {
  test.each([
    ["GET", '/Users?filter=title eq "x"', undefined, 400, "invalidFilter"],
    ["GET", '/Users?filter=userName eq "x" or active eq true', undefined, 400, "invalidFilter"],
    ["GET", "/Users?count=many", undefined, 400, "invalidValue"],
    ["POST", "/Users", { schemas: [USER] }, 400, "invalidSyntax"],
    ["POST", "/Users", { schemas: [USER], userName: "no address" }, 400, "invalidValue"],
    ["POST", "/Users", { schemas: [USER], userName: "a@b.c", active: "perhaps" }, 400, "invalidValue"],
    ["GET", "/Users/2f3a1f0c-6a5e-4b1e-9c55-1f1f0d3e6f11", undefined, 404, undefined],
    ["DELETE", "/Users/nobody", undefined, 404, undefined],
  ])("of %s %s has SCIM's form", async (method, path, body, status, scimType) => {
    const answer = await ask(method, path, body);
    expect([answer.status, answer.type]).toEqual([status, "application/scim+json"]);
    expect(answer.body).toMatchObject({ schemas: [ERROR], status: String(status) });
    expect(answer.body.scimType).toBe(scimType);
  });

  test("meets wrong operations, and another userName: records are found by it", async () => {
    const { id } = (await ask("POST", "/Users", { userName: "fixed@contoso.com" })).body;
    const outcomes = [
      await patch(id, { op: "move", path: "active", value: true }),
      await patch(id, { op: "replace", value: "x" }),
      await patch(id, { op: "replace", path: "active", value: "perhaps" }),
      await patch(id, { op: "replace", path: "userName", value: "other@contoso.com" }),
      await patch(id),
    ];
    expect(outcomes.map(({ status, body }) => [status, body.scimType])).toEqual([
      [400, "invalidSyntax"],
      [400, "invalidSyntax"],
      [400, "invalidValue"],
      [400, "mutability"],
      [400, "invalidSyntax"],
    ]);
    expect((await patch(id, { op: "replace", path: "userName", value: "FIXED@contoso.com" })).status).toBe(
      200,
    );
  });

  test("meets who is no administrator by a token: another role, a wrong one, a cookie, a client key", async () => {
    const manager = await token("reader", "manager");
    expect((await ask("GET", "/Users", undefined, manager)).status).toBe(403);
    expect((await ask("GET", "/Users", undefined, `tga_${"a".repeat(43)}`)).body).toMatchObject({
      schemas: [ERROR],
      status: "401",
    });
    await gateway.admin("POST", "/people", { email: "root@contoso.com", role: "administrator" });
    const { browser, key } = await atWork("root@contoso.com");
    expect((await browser.send("GET", "/scim/v2/Users")).status).toBe(401);
    expect((await ask("GET", "/Users", undefined, key)).status).toBe(401);
  });
});

test("each change is in the audit log under the token's name, and what is repeated is no change", async () => {
  const audit = async () =>
    (
      await gateway.admin<{ data: { action: string; actor: string }[] }>(
        "GET",
        "/audit?subject=audited@contoso.com",
      )
    ).data;
  const { id } = (await ask("POST", "/Users", { userName: "audited@contoso.com" })).body;
  const off = { op: "replace", value: { active: false } };
  await patch(id, off);
  await patch(id, off);
  await patch(id, { op: "replace", value: { displayName: "Audited" } });
  expect((await audit()).map(({ action, actor }) => [action, actor])).toEqual([
    ["person.changed", "directory"],
    ["person.disabled", "directory"],
    ["person.created", "directory"],
  ]);
});
