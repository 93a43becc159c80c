import type { TSchema } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { includesRole } from "#shared/admin/people.ts";
import { SCIM_SCHEMAS, ScimPatch, ScimUserBody } from "#shared/admin/scim.ts";
import { isId, newId } from "#shared/ids.ts";
import { type AdminDeps, readDatabase, saveChange } from "../admin/deps.ts";
import { addPerson, changePerson } from "../admin/person-changes.ts";
import { GatewayError } from "../errors.ts";
import { SCIM_JSON, ScimError, scimErrorAnswer } from "../identity/scim/scim-error.ts";
import { readScimQuery } from "../identity/scim/scim-query.ts";
import { factsOfPatch, factsOfUser, type ScimFacts, scimUser } from "../identity/scim/scim-user.ts";
import { hasKey, identify } from "../identity/viewer.ts";
import { readJson } from "../plugins/body.ts";
import { CREDENTIALS } from "../plugins/refusals.ts";
import type { Origin } from "../stores/audit.ts";
import { findPerson, findPersonByEmail, type PersonRow, pageOfPeople } from "../stores/identity/people.ts";
import { SCIM_CONFIG, SCIM_DOCS } from "./scim-docs.ts";

type Asked = { request: Request; origin: Origin };

/** `/scim/v2`: a directory adds, changes and disables people (RFC 7644). */
export const scim = (deps: AdminDeps) =>
  new Elysia({ name: "surface.scim", prefix: "/scim/v2" })
    .get("/ServiceProviderConfig", ({ request }) => answered(deps, request, async () => SCIM_CONFIG), {
      detail: SCIM_DOCS.config,
    })
    .get("/Users", ({ request }) => answered(deps, request, () => list(deps, request)), {
      detail: SCIM_DOCS.list,
    })
    .post("/Users", ({ request }) => answered(deps, request, (it) => create(deps, it)), {
      parse: "none",
      detail: SCIM_DOCS.create,
    })
    .get(
      "/Users/:id",
      ({ request, params }) =>
        answered(deps, request, async () =>
          view(deps, request, await readDatabase(deps, (db) => existing(db, params.id))),
        ),
      { detail: SCIM_DOCS.read },
    )
    .put(
      "/Users/:id",
      ({ request, params }) =>
        answered(deps, request, async (it) => {
          // A whole user without `active` is an active one.
          const user = { active: true, ...(await readScim(deps, request, ScimUserBody)) };
          return await edit(deps, it, { id: params.id, facts: factsOfUser(user) });
        }),
      { parse: "none", detail: SCIM_DOCS.replace },
    )
    .patch(
      "/Users/:id",
      ({ request, params }) =>
        answered(deps, request, async (it) => {
          const facts = factsOfPatch(await readScim(deps, request, ScimPatch));
          return await edit(deps, it, { id: params.id, facts });
        }),
      { parse: "none", detail: SCIM_DOCS.patch },
    )
    .delete(
      "/Users/:id",
      ({ request, params }) =>
        answered(deps, request, async (it) => {
          await edit(deps, it, { id: params.id, facts: { disabled: true } });
          return null;
        }),
      { detail: SCIM_DOCS.disable },
    );

/** The answer to a caller who is an administrator by key or token; null: without a body. */
async function answered(
  deps: AdminDeps,
  request: Request,
  work: (it: Asked) => Promise<object | null>,
): Promise<Response> {
  try {
    const body = await work({ request, origin: await administrator(deps, request) });
    if (body === null) return new Response(null, { status: 204 });
    return Response.json(body, { status: request.method === "POST" ? 201 : 200, headers: SCIM_JSON });
  } catch (error) {
    return scimErrorAnswer(error);
  }
}

/** A directory has no browser, so a cookie does not count. @throws GatewayError unauthenticated; role_not_allowed. */
async function administrator(deps: AdminDeps, request: Request): Promise<Origin> {
  if (!hasKey(request.headers)) throw new GatewayError("unauthenticated", CREDENTIALS.admin_key);
  const { actor, role } = await identify(deps, request);
  if (!includesRole(role, "administrator")) throw new GatewayError("role_not_allowed");
  return { actor, address: deps.refusals.addressOf(request), requestId: newId(), at: deps.clock.now() };
}

const baseOf = ({ publicUrl }: AdminDeps, request: Request): string =>
  publicUrl ?? new URL(request.url).origin;
const view = (deps: AdminDeps, request: Request, person: PersonRow) =>
  scimUser(person, baseOf(deps, request));

async function readScim<T extends TSchema>(deps: AdminDeps, request: Request, schema: T) {
  try {
    return await readJson(deps, request, schema);
  } catch (error) {
    const isSyntax = error instanceof GatewayError && error.type === "invalid_request";
    throw isSyntax ? new ScimError("invalidSyntax", error.message) : error;
  }
}

async function list(deps: AdminDeps, request: Request): Promise<object> {
  const { email, startIndex, count } = readScimQuery(new URL(request.url).searchParams);
  const page = { email, offset: startIndex - 1, limit: count };
  const { rows, total } = await readDatabase(deps, (db) => pageOfPeople(db, page));
  return {
    schemas: [SCIM_SCHEMAS.list],
    totalResults: total,
    startIndex,
    itemsPerPage: rows.length,
    Resources: rows.map((row) => view(deps, request, row)),
  };
}

async function create(deps: AdminDeps, { request, origin }: Asked): Promise<object> {
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
  { request, origin }: Asked,
  { id, facts }: { id: string; facts: ScimFacts },
): Promise<object> {
  const { userName, ...wanted } = facts;
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
