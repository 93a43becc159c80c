import { SCIM_SCHEMAS, ScimGroupBody, ScimPatch } from "#shared/admin/scim.ts";
import { type AdminDeps, readDatabase } from "../admin/deps.ts";
import { existingGroup, type GroupChange, saveGroup } from "../identity/scim/save-group.ts";
import { changedGroup, type GroupFacts, scimGroup } from "../identity/scim/scim-group.ts";
import { readScimQuery } from "../identity/scim/scim-query.ts";
import { pageOfScimGroups, type ScimGroupRow, scimMembersOf } from "../stores/identity/scim-groups.ts";
import { baseOf, readScim, type ScimAsked, scimAddresses } from "./scim-answer.ts";
import { SCIM_DOCS } from "./scim-docs.ts";

/** `/scim/v2/Groups`: the groups of a directory, whose mappings give roles and teams. */
export const directoryGroups = (deps: AdminDeps) =>
  scimAddresses(deps, "/scim/v2/Groups", [
    ["GET", "", SCIM_DOCS.listGroups, ({ request }) => list(deps, request)],
    ["POST", "", SCIM_DOCS.createGroup, (it) => put(deps, it, null)],
    ["GET", "/:id", SCIM_DOCS.readGroup, (it) => read(deps, it)],
    ["PUT", "/:id", SCIM_DOCS.replaceGroup, (it) => put(deps, it, it.id)],
    ["PATCH", "/:id", SCIM_DOCS.patchGroup, (it) => patch(deps, it)],
    ["DELETE", "/:id", SCIM_DOCS.deleteGroup, (it) => edit(deps, it, () => null)],
  ]);

const read = async (deps: AdminDeps, { request, id }: ScimAsked): Promise<object> =>
  shown(deps, request, await readDatabase(deps, (db) => existingGroup(db, id)));

/** Null: a new group. */
async function put(deps: AdminDeps, it: ScimAsked, id: string | null): Promise<object> {
  const body = await readScim(deps, it.request, ScimGroupBody);
  return await shown(deps, it.request, await save(deps, it, { id, next: () => factsOf(body) }));
}

async function patch(deps: AdminDeps, it: ScimAsked): Promise<null> {
  const changes = await readScim(deps, it.request, ScimPatch);
  return await edit(deps, it, (group) => changedGroup(group, changes));
}

async function edit(deps: AdminDeps, it: ScimAsked, next: GroupChange["next"]): Promise<null> {
  await save(deps, it, { id: it.id, next });
  return null;
}

const factsOf = ({ displayName, externalId = null, members = [] }: ScimGroupBody): GroupFacts => ({
  name: displayName,
  externalId,
  members: new Set(members.map(({ value }) => value)),
});

const leavesMembersOut = (request: Request): boolean =>
  /(^|,)\s*members\s*(,|$)/i.test(new URL(request.url).searchParams.get("excludedAttributes") ?? "");

async function shown(deps: AdminDeps, request: Request, row: ScimGroupRow): Promise<object> {
  const members = leavesMembersOut(request)
    ? null
    : await readDatabase(deps, (db) => scimMembersOf(db, [row.id]));
  return scimGroup(row, members, baseOf(deps, request));
}

async function list(deps: AdminDeps, request: Request): Promise<object> {
  const query = readScimQuery(new URL(request.url).searchParams, ["displayName", "externalId"]);
  const equalTo = (name: string) => (query.equal?.attribute === name ? query.equal.value : null);
  const wanted = { name: equalTo("displayName"), externalId: equalTo("externalId") };
  const page = { ...wanted, offset: query.startIndex - 1, limit: query.count };
  const { rows, total } = await readDatabase(deps, (db) => pageOfScimGroups(db, page));
  const ids = rows.map(({ id }) => id);
  const all =
    leavesMembersOut(request) || ids.length === 0
      ? null
      : await readDatabase(deps, (db) => scimMembersOf(db, ids));
  const membersOf = ({ id }: ScimGroupRow) => all?.filter(({ groupId }) => groupId === id) ?? null;
  return {
    schemas: [SCIM_SCHEMAS.list],
    totalResults: total,
    startIndex: query.startIndex,
    itemsPerPage: rows.length,
    Resources: rows.map((row) => scimGroup(row, membersOf(row), baseOf(deps, request))),
  };
}

async function save(deps: AdminDeps, { origin }: ScimAsked, change: GroupChange): Promise<ScimGroupRow> {
  const row = await saveGroup(deps, origin, change);
  await deps.directory.refresh();
  return row;
}
