import { pageOf } from "#shared/admin/fields.ts";
import {
  Group,
  RoleMappingBody,
  RoleMappingPatch,
  RoleMappingPut,
  RoleMappingView,
} from "#shared/admin/role-mappings.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { fits } from "#shared/schema.ts";
import { viewAs } from "#shared/view-as.ts";
import { GatewayError, orNotFound, refuse } from "../errors.ts";
import { applyGroup } from "../identity/mapped-people.ts";
import { readJson } from "../plugins/body.ts";
import type { Origin } from "../stores/audit.ts";
import { type RoleMappingRow, roleMappingRows } from "../stores/identity/role-mappings.ts";
import { requireTeam } from "../stores/teams.ts";
import { type AdminDeps, adminPart, readDatabase, saveChange } from "./deps.ts";
import { adminRoute, created, LIST_QUERY, noContent } from "./documented.ts";
import { pageFrom, readListQuery } from "./list.ts";

const docs = adminRoute("people");

/** `/admin/v1/role-mappings`: the role and team of who signs in elsewhere with a group. */
export const adminRoleMappings = (deps: AdminDeps) =>
  adminPart(deps, "role-mappings")
    .get(
      "",
      async ({ request }) => {
        const { limit, after } = readListQuery(request, []);
        const rows = await readDatabase(deps, (db) => roleMappingRows.list(db, { after, limit: limit + 1 }));
        return pageFrom(rows, limit, { view: viewOf, cursor: (row) => row.group });
      },
      docs({
        summary: "List role mappings",
        query: LIST_QUERY,
        answers: { 200: pageOf(RoleMappingView) },
      }),
    )
    .post(
      "",
      async ({ request, origin }) => {
        const { group, role, team = null } = await readJson(deps, request, RoleMappingBody);
        const { row } = await save(deps, origin, {
          group,
          given(current) {
            if (current) throw new GatewayError("conflict", "The group already has a role.");
            return { role, team };
          },
        });
        return created(viewOf(row));
      },
      docs({
        summary: "Create a role mapping",
        description: "Of several groups of a person, the one with most rights counts.",
        body: RoleMappingBody,
        answers: { 201: RoleMappingView },
      }),
    )
    .get("/:group", ({ params }) => read(deps, params.group), {
      ...docs({ summary: "Read a role mapping", answers: { 200: RoleMappingView } }),
    })
    .put(
      "/:group",
      ({ request, params, origin }) => put(deps, request, { group: params.group, origin }),
      docs({
        summary: "Create or replace a role mapping",
        body: RoleMappingPut,
        answers: { 200: RoleMappingView, 201: RoleMappingView },
      }),
    )
    .patch(
      "/:group",
      async ({ request, params: { group }, origin }) => {
        const patch = await readJson(deps, request, RoleMappingPatch);
        const given = (current: RoleMappingRow | null) => ({ ...orNotFound(current), ...patch });
        return viewOf((await save(deps, origin, { group, given })).row);
      },
      docs({ summary: "Change a role mapping", body: RoleMappingPatch, answers: { 200: RoleMappingView } }),
    )
    .delete("/:group", ({ params, origin }) => remove(deps, origin, params.group), {
      ...docs({ summary: "Delete a role mapping", answers: { 204: null } }),
    });

async function read(deps: AdminDeps, group: string): Promise<RoleMappingView> {
  const row = orNotFound(await readDatabase(deps, (db) => roleMappingRows.find(db, group)));
  return viewOf(row);
}

async function put(
  deps: AdminDeps,
  request: Request,
  at: { group: string; origin: Origin },
): Promise<Response | RoleMappingView> {
  const { group = at.group, role, team = null } = await readJson(deps, request, RoleMappingPut);
  if (group !== at.group || !fits(Group, group))
    refuse("/group: Expected the group in the address, or no group.");
  const { row, isNew } = await save(deps, at.origin, { group, given: () => ({ role, team }) });
  return isNew ? created(viewOf(row)) : viewOf(row);
}

/** What the group gives from now on, by what it gave. */
type Wanted = {
  group: string;
  given(current: RoleMappingRow | null): Pick<RoleMappingRow, "role" | "team">;
};

const save = (deps: AdminDeps, origin: Origin, { group, given }: Wanted) =>
  saveChange(deps, origin, async (tx, audit) => {
    const now = deps.clock.now().toISOString();
    const current = await roleMappingRows.find(tx, group);
    const { role, team } = given(current);
    await requireTeam(tx, team);
    const createdAt = current?.createdAt ?? now;
    const row = { orgId: DEFAULT_ORG, group, role, team, createdAt, updatedAt: now };
    await roleMappingRows.write(tx, row);
    await audit({
      action: "role_mapping.set",
      subject: row.group,
      ...(current && { before: viewOf(current) }),
      after: viewOf(row),
    });
    await applyGroup({ tx, audit, now: deps.clock.now() }, row.group);
    return { row, isNew: !current };
  });

async function remove(deps: AdminDeps, origin: Origin, group: string): Promise<Response> {
  await saveChange(deps, origin, async (tx, audit) => {
    const gone = orNotFound(await roleMappingRows.remove(tx, group));
    await audit({ action: "role_mapping.deleted", subject: group, before: viewOf(gone) });
    await applyGroup({ tx, audit, now: deps.clock.now() }, group);
  });
  return noContent();
}

const viewOf = (row: RoleMappingRow): RoleMappingView => viewAs(RoleMappingView, row);
