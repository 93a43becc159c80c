import { SCIM_SCHEMAS, ScimPatch, ScimUserBody } from "#shared/admin/scim.ts";
import { isId } from "#shared/ids.ts";
import { type AdminDeps, readDatabase, saveChange } from "../admin/deps.ts";
import { addPerson, changePerson } from "../admin/person-changes.ts";
import { GatewayError } from "../errors.ts";
import { ScimError } from "../identity/scim/scim-error.ts";
import { readScimQuery } from "../identity/scim/scim-query.ts";
import { factsOfPatch, factsOfUser, type ScimFacts, scimUser } from "../identity/scim/scim-user.ts";
import { findPerson, findPersonByEmail, type PersonRow, pageOfPeople } from "../stores/identity/people.ts";
import { baseOf, readScim, type ScimAsked, scimAddresses } from "./scim-answer.ts";
import { SCIM_CONFIG, SCIM_DOCS } from "./scim-docs.ts";

/** `/scim/v2`: a directory adds, changes and disables people (RFC 7644). */
export const scim = (deps: AdminDeps) =>
  scimAddresses(deps, "/scim/v2", [
    ["GET", "/ServiceProviderConfig", SCIM_DOCS.config, async () => SCIM_CONFIG],
    ["GET", "/Users", SCIM_DOCS.list, ({ request }) => list(deps, request)],
    ["POST", "/Users", SCIM_DOCS.create, (it) => create(deps, it)],
    ["GET", "/Users/:id", SCIM_DOCS.read, (it) => read(deps, it)],
    ["PUT", "/Users/:id", SCIM_DOCS.replace, (it) => replace(deps, it)],
    [
      "PATCH",
      "/Users/:id",
      SCIM_DOCS.patch,
      async (it) => edit(deps, it, factsOfPatch(await readScim(deps, it.request, ScimPatch))),
    ],
    ["DELETE", "/Users/:id", SCIM_DOCS.disable, (it) => edit(deps, it, { disabled: true }).then(() => null)],
  ]);

const read = async (deps: AdminDeps, { request, id }: ScimAsked): Promise<object> =>
  view(deps, request, await readDatabase(deps, (db) => existing(db, id)));

/** A whole user without `active` is an active one. */
const replace = async (deps: AdminDeps, it: ScimAsked): Promise<object> =>
  edit(deps, it, factsOfUser({ active: true, ...(await readScim(deps, it.request, ScimUserBody)) }));

const view = (deps: AdminDeps, request: Request, person: PersonRow) =>
  scimUser(person, baseOf(deps, request));

async function list(deps: AdminDeps, request: Request): Promise<object> {
  const { equal, startIndex, count } = readScimQuery(new URL(request.url).searchParams, ["userName"]);
  const page = { email: equal?.value ?? null, offset: startIndex - 1, limit: count };
  const { rows, total } = await readDatabase(deps, (db) => pageOfPeople(db, page));
  return {
    schemas: [SCIM_SCHEMAS.list],
    totalResults: total,
    startIndex,
    itemsPerPage: rows.length,
    Resources: rows.map((row) => view(deps, request, row)),
  };
}

async function create(deps: AdminDeps, { request, origin }: ScimAsked): Promise<object> {
  const facts = factsOfUser(await readScim(deps, request, ScimUserBody));
  const { userName: email = "", name = null, disabled = false } = facts;
  const person = await saveChange(deps, origin, async (tx, audit) => {
    if (await findPersonByEmail(tx, email)) throw new GatewayError("conflict");
    const added = { email, name, role: "member", team: null, githubLogin: null } as const;
    return await addPerson({ tx, audit, now: deps.clock.now() }, added, disabled);
  }).catch((error: unknown) => {
    const isTaken = error instanceof GatewayError && error.type === "conflict";
    throw isTaken ? new ScimError("uniqueness", "A person with this userName exists.") : error;
  });
  return view(deps, request, person);
}

type Reader = Parameters<typeof findPerson>[0];

async function existing(reader: Reader, id: string): Promise<PersonRow> {
  const person = isId(id) ? await findPerson(reader, id) : null;
  if (!person) throw new GatewayError("not_found", "No user has this id.");
  return person;
}

/** @throws ScimError mutability for another userName: a person's records are found by it. */
async function edit(
  deps: AdminDeps,
  { request, origin, id }: ScimAsked,
  { userName, ...wanted }: ScimFacts,
): Promise<object> {
  const before = await readDatabase(deps, (db) => existing(db, id));
  if (userName !== undefined && userName !== before.email) {
    throw new ScimError("mutability", "userName: It cannot be changed. Add another person.");
  }
  if (isKept(before, wanted)) return view(deps, request, before);
  const person = await saveChange(deps, origin, async (tx, audit) =>
    changePerson({ tx, audit, now: deps.clock.now() }, await existing(tx, id), wanted),
  );
  return view(deps, request, person);
}

/** Directories resend known facts; those are not changes. */
const isKept = (before: PersonRow, { name, disabled }: Omit<ScimFacts, "userName">): boolean =>
  (name ?? before.name) === before.name && (disabled ?? before.disabled) === before.disabled;
