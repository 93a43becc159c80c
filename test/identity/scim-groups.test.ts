import { beforeAll, describe, expect, test } from "bun:test";
import { newId } from "#shared/ids.ts";
import { scratch } from "#test/support/embedded.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";
import { claimsIssuer, signInWith } from "./claims.ts";
import type { HostileIssuer } from "./hostile-issuer.ts";

// The requests of Okta's and Entra's provisioning of groups, as their documentation shows them.

const GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group";
const PATCH_OP = "urn:ietf:params:scim:api:messages:2.0:PatchOp";

const place = scratch();
let gateway: LocalGateway;
let issuer: HostileIssuer;
let secret: string;

beforeAll(async () => {
  const made = await claimsIssuer();
  issuer = made.issuer;
  gateway = await localGateway({ dataDir: `${place.path}/gateway`, env: made.env });
  const token = { name: "directory", role: "administrator" };
  secret = (await gateway.admin<{ secret: string }>("POST", "/tokens", token)).secret;
  for (const team of ["search", "ads"]) await gateway.admin("PUT", `/teams/${team}`, {});
  await gateway.admin("PUT", "/role-mappings/leads", { role: "manager", team: "search" });
  await gateway.admin("PUT", "/role-mappings/staff", { role: "member", team: "ads" });
});

async function ask(method: string, path: string, body?: unknown) {
  const answer = await fetch(`${gateway.url}/scim/v2${path}`, {
    method,
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/scim+json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: text && JSON.parse(text) };
}
const patch = (id: string, ...Operations: object[]) =>
  ask("PATCH", `/Groups/${id}`, { schemas: [PATCH_OP], Operations });
const find = (filter: string, more = "") => ask("GET", `/Groups?filter=${encodeURIComponent(filter)}${more}`);

const add = async (email: string): Promise<string> =>
  (await ask("POST", "/Users", { userName: email, active: true })).body.id;
const group = async (displayName: string, ...ids: string[]): Promise<string> =>
  (await ask("POST", "/Groups", { schemas: [GROUP], displayName, members: ids.map((value) => ({ value })) }))
    .body.id;
const rights = async (id: string) => {
  const { role, team } = await gateway.admin<{ role: string; team: string | null }>("GET", `/people/${id}`);
  return [role, team];
};

const PLAIN = ["member", null];
const LEAD = ["manager", "search"];
const STAFF = ["member", "ads"];

describe("a directory's groups", () => {
  test("give roles and teams at once, without a sign-in, and take them back", async () => {
    const ann = await add("ann@example.com");
    const staff = await group("staff", ann);
    expect(await rights(ann)).toEqual(STAFF);
    const leads = await group("leads", ann);
    expect(await rights(ann)).toEqual(LEAD);
    expect((await ask("DELETE", `/Groups/${leads}`)).status).toBe(204);
    expect(await rights(ann)).toEqual(STAFF);
    await patch(staff, { op: "remove", path: "members" });
    expect(await rights(ann)).toEqual(PLAIN);
    await ask("DELETE", `/Groups/${staff}`);
    const { data } = await gateway.admin<{ data: { actor: string; action: string }[] }>(
      "GET",
      "/audit?actor=directory",
    );
    expect(new Set(data.map(({ action }) => action))).toEqual(
      new Set(["person.created", "person.changed", "directory_group.set", "directory_group.deleted"]),
    );
  });

  test("as Okta sends them: found by name, made, members added and removed by path, renamed, replaced", async () => {
    const [bea, bob] = [await add("bea@example.com"), await add("bob@example.com")];
    expect((await find('displayName eq "leads"')).body).toMatchObject({ totalResults: 0, Resources: [] });
    const members = [{ value: bea, display: "bea@example.com" }];
    const made = await ask("POST", "/Groups", { schemas: [GROUP], displayName: "leads", members });
    expect([made.status, made.body.displayName, made.body.members]).toEqual([
      201,
      "leads",
      [expect.objectContaining({ value: bea, display: "bea@example.com" })],
    ]);
    const { id } = made.body;
    expect((await find('displayName eq "Leads"')).body.Resources).toEqual([made.body]);
    expect(
      (await patch(id, { op: "add", path: "members", value: [{ value: bob, display: "bob" }] })).status,
    ).toBe(204);
    expect([await rights(bea), await rights(bob)]).toEqual([LEAD, LEAD]);
    await patch(id, { op: "remove", path: `members[value eq "${bea}"]` });
    expect([await rights(bea), await rights(bob)]).toEqual([PLAIN, LEAD]);
    await patch(id, { op: "replace", value: { id, displayName: "former leads" } });
    expect(await rights(bob)).toEqual(PLAIN);
    const replaced = { schemas: [GROUP], id, displayName: "leads", members };
    expect((await ask("PUT", `/Groups/${id}`, replaced)).body.members).toHaveLength(1);
    expect([await rights(bea), await rights(bob)]).toEqual([LEAD, PLAIN]);
    await ask("DELETE", `/Groups/${id}`);
  });

  test("as Entra sends them: without members in lists, with capitals, members removed by value", async () => {
    const [cid, dan] = [await add("cid@example.com"), await add("dan@example.com")];
    const made = await ask("POST", "/Groups", {
      schemas: [GROUP, "http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group"],
      externalId: "8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159",
      displayName: "staff",
      meta: { resourceType: "Group" },
    });
    expect(made.status).toBe(201);
    const { id } = made.body;
    const listed = await find('displayName eq "staff"', "&excludedAttributes=members");
    expect(listed.body.Resources[0].members).toBeUndefined();
    expect((await find(`externalId eq "${made.body.externalId}"`)).body.totalResults).toBe(1);
    await patch(id, { op: "Add", path: "members", value: [{ $ref: null, value: cid }, { value: dan }] });
    expect([await rights(cid), await rights(dan)]).toEqual([STAFF, STAFF]);
    await patch(id, { op: "Remove", path: "members", value: [{ $ref: null, value: cid }] });
    expect([await rights(cid), await rights(dan)]).toEqual([PLAIN, STAFF]);
    await patch(id, { op: "Replace", path: "members", value: [] });
    expect(await rights(dan)).toEqual(PLAIN);
    await patch(id, { op: "Replace", path: "displayName", value: "leads" });
    await patch(id, { op: "Add", path: "members", value: [{ value: dan }] });
    expect(await rights(dan)).toEqual(LEAD);
    await ask("DELETE", `/Groups/${id}`);
  });

  test("count beside the groups of a sign-in, which ends neither", async () => {
    const eva = await add("eva@example.com");
    const signIn = (groups: string[]) =>
      signInWith(gateway, issuer, { sub: "eva", email: "eva@example.com", groups });
    expect((await signIn(["leads"])).me).toMatchObject({ role: "manager", team: "search" });
    const staff = await group("staff", eva);
    expect(await rights(eva)).toEqual(LEAD);
    expect((await signIn([])).me).toMatchObject({ role: "member", team: "ads" });
    await ask("DELETE", `/Groups/${staff}`);
    expect(await rights(eva)).toEqual(PLAIN);
    await gateway.admin("PATCH", "/settings", { sign_in: { required_groups: ["guests"] } });
    expect((await signIn([])).error).toBe("group_missing");
    await group("guests", eva);
    expect((await signIn([])).error).toBeNull();
    await gateway.admin("PATCH", "/settings", { sign_in: {} });
  });

  test("follow the mappings, too", async () => {
    const fay = await add("fay@example.com");
    await group("night shift", fay);
    expect(await rights(fay)).toEqual(PLAIN);
    await gateway.admin("PUT", "/role-mappings/night shift", { role: "manager", team: "ads" });
    expect(await rights(fay)).toEqual(["manager", "ads"]);
    const path = "/role-mappings/night shift";
    expect(await gateway.admin<object>("PATCH", path, { role: "member" })).toMatchObject({
      ...{ group: "night shift", role: "member", team: "ads" },
    });
    await expect(gateway.admin("PATCH", "/role-mappings/day shift", { role: "member" })).rejects.toThrow(
      "404",
    );
    await gateway.admin("DELETE", "/role-mappings/night shift");
    expect(await rights(fay)).toEqual(PLAIN);
  });

  test("that are repeated change nothing, and what is wrong is refused", async () => {
    const gil = await add("gil@example.com");
    const id = await group("quiet", gil, newId(), "no id");
    expect((await ask("GET", `/Groups/${id}`)).body.members).toHaveLength(1);
    const entries = async () =>
      (await gateway.admin<{ data: object[] }>("GET", "/audit?subject=quiet")).data.length;
    const before = await entries();
    await patch(id, { op: "add", path: "members", value: [{ value: gil }] });
    expect(await entries()).toBe(before);
    expect((await ask("POST", "/Groups", { displayName: "quiet" })).body).toMatchObject({
      status: "409",
      scimType: "uniqueness",
    });
    expect((await patch(id, { op: "move", path: "members" })).body.scimType).toBe("invalidSyntax");
    expect((await patch(id, { op: "add", path: "members", value: [{ id: gil }] })).body.scimType).toBe(
      "invalidValue",
    );
    expect((await find('members eq "x"')).body.scimType).toBe("invalidFilter");
    expect((await ask("GET", `/Groups/${newId()}`)).status).toBe(404);
    expect((await patch(newId(), { op: "add", path: "members", value: [] })).status).toBe(404);
    expect((await fetch(`${gateway.url}/scim/v2/Groups`)).status).toBe(401);
  });
});
