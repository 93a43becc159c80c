import { pageOf } from "#shared/admin/fields.ts";
import { PersonBody, PersonPatch, PersonView } from "#shared/admin/people.ts";
import { personView } from "../identity/person-view.ts";
import { readJson } from "../plugins/body.ts";
import type { Origin } from "../stores/audit.ts";
import { listPeople } from "../stores/identity/people.ts";
import { type AdminDeps, adminPart, readDatabase, saveChange } from "./deps.ts";
import { adminRoute, created, LIST_QUERY, noContent } from "./documented.ts";
import { changedBudget } from "./key-view.ts";
import { idCursor, pageFrom, readListQuery } from "./list.ts";
import { addPerson, changePerson, personAt } from "./person-changes.ts";

/** `/admin/v1/people`: who may sign in, and what they may do. An address names a person by id or e-mail. */
export const adminPeople = (deps: AdminDeps) =>
  adminPart(deps, "people")
    .get(
      "",
      async ({ request }) => {
        const { limit, after, given } = readListQuery(request, ["email"]);
        const slice = { after: after && idCursor(after), limit: limit + 1, email: given.email ?? null };
        const rows = await readDatabase(deps, (db) => listPeople(db, slice));
        return pageFrom(rows, limit, { view: personView, cursor: (row) => row.id });
      },
      { ...LIST },
    )
    .post("", ({ request, origin }) => create(deps, origin, request), { ...CREATE })
    .get(
      "/:id",
      ({ params }) => readDatabase(deps, async (db) => personView(await personAt(db, params.id))),
      { ...READ },
    )
    .patch(
      "/:id",
      async ({ request, params, origin }) => {
        const body = await readJson(deps, request, PersonPatch);
        return personView(await edit(deps, origin, { id: params.id, body }));
      },
      { ...PATCH },
    )
    .delete(
      "/:id",
      async ({ params, origin }) => {
        await edit(deps, origin, { id: params.id, body: { disabled: true } });
        return noContent();
      },
      { ...DISABLE },
    );

const docs = adminRoute("people");
const LIST = docs({
  summary: "List people, newest first",
  query: { ...LIST_QUERY, email: "Exactly this e-mail; case does not count." },
  answers: { 200: pageOf(PersonView) },
});
const CREATE = docs({
  summary: "Create a person",
  description: "Who then signs in by a one-time link, or elsewhere with this e-mail.",
  body: PersonBody,
  answers: { 201: PersonView },
});
const READ = docs({ summary: "Read a person, by id or e-mail", answers: { 200: PersonView } });
const PATCH = docs({
  summary: "Change a person",
  description:
    "A new role counts with the next request. Disabling ends sessions and revokes keys for good; a person who is enabled again must sign in again.",
  body: PersonPatch,
  answers: { 200: PersonView },
});
const DISABLE = docs({
  summary: "Disable a person",
  description:
    "Ends the person's sessions and revokes the person's keys, everywhere within five seconds. Records keep the person's name.",
  answers: { 204: null },
});

async function create(deps: AdminDeps, origin: Origin, request: Request): Promise<Response> {
  const {
    email,
    name = null,
    github_login,
    role = "member",
    team = null,
    disabled = false,
    ...budget
  } = await readJson(deps, request, PersonBody);
  const none = { budgetUsd: null, budgetPeriod: null, unpriced: null };
  const facts = {
    email,
    name,
    role,
    team,
    githubLogin: github_login ?? null,
    ...changedBudget(none, budget),
  };
  const row = await saveChange(deps, origin, (tx, audit) =>
    addPerson({ tx, audit, now: deps.clock.now() }, facts, disabled),
  );
  return created(personView(row));
}

const edit = (deps: AdminDeps, origin: Origin, { id, body }: { id: string; body: PersonPatch }) =>
  saveChange(deps, origin, async (tx, audit) => {
    const { github_login: githubLogin, budget_usd: _, budget_period: __, unpriced: ___, ...rest } = body;
    const before = await personAt(tx, id);
    const wanted = {
      ...rest,
      ...changedBudget(before, body),
      ...(githubLogin !== undefined && { githubLogin }),
    };
    return await changePerson({ tx, audit, now: deps.clock.now() }, before, wanted);
  });
