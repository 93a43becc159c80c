import { Elysia } from "elysia";
import { SCIM_SCHEMAS, ScimGroupBody, ScimPatch } from "#shared/admin/scim.ts";
import { type AdminDeps, readDatabase } from "../admin/deps.ts";
import { existingGroup, type GroupChange, saveGroup } from "../identity/scim/save-group.ts";
import { changedGroup, type GroupFacts, scimGroup } from "../identity/scim/scim-group.ts";
import { readScimQuery } from "../identity/scim/scim-query.ts";
import { pageOfScimGroups, type ScimGroupRow, scimMembersOf } from "../stores/identity/scim-groups.ts";
import { answered, baseOf, readScim, type ScimAsked } from "./scim-answer.ts";
import { SCIM_DOCS } from "./scim-docs.ts";

/** `/scim/v2/Groups`: the groups of a directory, whose mappings give roles and teams. */
export const directoryGroups = (deps: AdminDeps) =>
  new Elysia({ name: "surface.scim-groups", prefix: "/scim/v2/Groups" })
    .get("", ({ request }) => answered(deps, request, () => list(deps, request)), {
      detail: SCIM_DOCS.listGroups,
    })
    .post(
      "",
      ({ request }) =>
        answered(deps, request, async (it) => {
          const body = await readScim(deps, request, ScimGroupBody);
          return await shown(deps, request, await save(deps, it, { id: null, next: () => factsOf(body) }));
        }),
      { parse: "none", detail: SCIM_DOCS.createGroup },
    )
    .get(
      "/:id",
      ({ request, params }) =>
        answered(deps, request, async () =>
          shown(deps, request, await readDatabase(deps, (db) => existingGroup(db, params.id))),
        ),
      { detail: SCIM_DOCS.readGroup },
    )
    .put(
      "/:id",
      ({ request, params }) =>
        answered(deps, request, async (it) => {
          const body = await readScim(deps, request, ScimGroupBody);
          return await shown(
            deps,
            request,
            await save(deps, it, { id: params.id, next: () => factsOf(body) }),
          );
        }),
      { parse: "none", detail: SCIM_DOCS.replaceGroup },
    )
    .patch(
      "/:id",
      ({ request, params }) =>
        answered(deps, request, async (it) => {
          const patch = await readScim(deps, request, ScimPatch);
          await save(deps, it, { id: params.id, next: (group) => changedGroup(group, patch) });
          return null;
        }),
      { parse: "none", detail: SCIM_DOCS.patchGroup },
    )
    .delete(
      "/:id",
      ({ request, params }) =>
        answered(deps, request, async (it) => {
          await save(deps, it, { id: params.id, next: () => null });
          return null;
        }),
      { detail: SCIM_DOCS.deleteGroup },
    );

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
