import type { Transaction } from "#drizzle/database.ts";
import type { AuditAction } from "#drizzle/schema/audit.ts";
import { BatchView } from "#shared/admin/batches.ts";
import { type Page, pageOf, readInstant } from "#shared/admin/fields.ts";
import {
  KeyBody,
  KeyPatch,
  type KeyView,
  KeyWithSecret,
  RotateBody,
  KeyView as View,
} from "#shared/admin/keys.ts";
import { storedOwner } from "#shared/admin/people.ts";
import { viewAs } from "#shared/view-as.ts";
import { GatewayError, orNotFound } from "../errors.ts";
import { readJson } from "../plugins/body.ts";
import type { Origin } from "../stores/audit.ts";
import { type BatchRow, listKeyBatches } from "../stores/batches.ts";
import type { Reader } from "../stores/change.ts";
import { requireNotDisabled } from "../stores/identity/people.ts";
import {
  findKey,
  insertKey,
  type KeyFields,
  type KeyWithSecrets,
  listKeys,
  revokeKey,
  rotateKey,
  updateKey,
} from "../stores/keys.ts";
import { requireTeam } from "../stores/teams.ts";
import { isCeiling } from "./cost-explanation.ts";
import { type AdminDeps, adminPart, readDatabase, saveChange } from "./deps.ts";
import { adminRoute, created, LIST_QUERY, noContent } from "./documented.ts";
import { keyView, limitsOf } from "./key-view.ts";
import { idCursor, idParameter, pageFrom, readListQuery } from "./list.ts";

/** `/admin/v1/keys`: who may call, what, and how much. A secret is shown once, in the answer that made it. */
export const adminKeys = (deps: AdminDeps) =>
  adminPart(deps, "keys")
    .get("", ({ request }) => list(deps, request), { ...LIST })
    .post("", ({ request, origin }) => create(deps, origin, request), { ...CREATE })
    .get("/:id", ({ params }) => readOne(deps, params.id), { ...READ })
    .patch("/:id", ({ request, params, origin }) => patch(deps, origin, { id: params.id, request }), {
      ...PATCH,
    })
    .delete("/:id", ({ params, origin }) => revoke(deps, origin, params.id), { ...REVOKE })
    .post("/:id/rotate", ({ request, params, origin }) => rotate(deps, origin, { id: params.id, request }), {
      ...ROTATE,
    })
    .get("/:id/batches", ({ request, params }) => listBatches(deps, params.id, request), { ...BATCHES });

const docs = adminRoute("keys");
const LIST = docs({
  summary: "List client keys, newest first",
  query: { ...LIST_QUERY, owner: "Exactly this owner; case does not count." },
  answers: { 200: pageOf(View) },
});
const CREATE = docs({ summary: "Create a client key", body: KeyBody, answers: { 201: KeyWithSecret } });
const READ = docs({ summary: "Read a client key", answers: { 200: View } });
const PATCH = docs({
  summary: "Change a client key",
  description:
    "`scopes` and `limits` are replaced as a whole; null removes an owner, a team, limits or an expiry.",
  body: KeyPatch,
  answers: { 200: View },
});
const REVOKE = docs({
  summary: "Revoke a client key",
  description:
    "Permanent, and effective everywhere within five seconds. The key stays listed, for its records.",
  answers: { 204: null },
});
const BATCHES = docs({
  summary: "List a key's batches and their cost, newest first",
  query: LIST_QUERY,
  answers: { 200: pageOf(BatchView) },
});
const ROTATE = docs({
  summary: "Give a client key a new secret",
  description: "The id stays the same. The old secret stays valid for `grace_seconds`.",
  body: RotateBody,
  answers: { 200: KeyWithSecret },
});

async function list(deps: AdminDeps, request: Request): Promise<Page<KeyView>> {
  const { limit, after, given } = readListQuery(request, ["owner"]);
  const slice = { after: after && idCursor(after), limit: limit + 1, owner: given.owner ?? null };
  const now = deps.clock.now();
  const rows = await readDatabase(deps, (db) => listKeys(db, slice, now));
  return pageFrom(rows, limit, { view: (row) => keyView(row, now), cursor: (row) => row.id });
}

async function create(deps: AdminDeps, origin: Origin, request: Request): Promise<Response> {
  const body = await readJson(deps, request, KeyBody);
  const facts = factsOf(body, { ...NO_FACTS, name: body.name });
  const now = deps.clock.now();
  const made = await saveChange(deps, origin, async (tx, audit) => {
    await requireTeam(tx, facts.team);
    await requireNotDisabled(tx, facts.owner);
    const { id, secret } = await insertKey(tx, facts, now);
    const after = keyView(await existing(tx, id, now), now);
    await audit({ action: "key.created", subject: id, after });
    return { ...after, secret };
  });
  return created(made);
}

async function readOne(deps: AdminDeps, id: string): Promise<KeyView> {
  const now = deps.clock.now();
  return keyView(await readDatabase(deps, (db) => existing(db, id, now)), now);
}

type KeyRequest = { id: string; request: Request };

async function patch(deps: AdminDeps, origin: Origin, { id, request }: KeyRequest): Promise<KeyView> {
  const body = await readJson(deps, request, KeyPatch);
  const { after } = await changeKey(deps, { id, origin, action: "key.changed" }, async (tx, current) => {
    const facts = factsOf(body, current);
    if (facts.team !== current.team) await requireTeam(tx, facts.team);
    if (facts.owner !== current.owner) await requireNotDisabled(tx, facts.owner);
    await updateKey(tx, id, facts);
  });
  return after;
}

async function revoke(deps: AdminDeps, origin: Origin, id: string): Promise<Response> {
  await changeKey(deps, { id, origin, action: "key.revoked" }, (tx, _key, now) => revokeKey(tx, id, now));
  return noContent();
}

async function rotate(deps: AdminDeps, origin: Origin, { id, request }: KeyRequest) {
  const { grace_seconds: graceSeconds = 0 } = await readJson(deps, request, RotateBody);
  const { after, result: secret } = await changeKey(
    deps,
    { id, origin, action: "key.rotated" },
    (tx, key, now) => {
      if (key.revokedAt !== null) {
        throw new GatewayError("conflict", "The key is revoked and cannot get another secret.");
      }
      return rotateKey(tx, id, { now, graceSeconds });
    },
  );
  return { ...after, secret };
}

type KeyChange = { id: string; origin: Origin; action: AuditAction };

const changeKey = <T>(
  deps: AdminDeps,
  { id, origin, action }: KeyChange,
  work: (tx: Transaction, current: KeyWithSecrets, now: Date) => Promise<T>,
): Promise<{ after: KeyView; result: T }> => {
  const now = deps.clock.now();
  return saveChange(deps, origin, async (tx, audit) => {
    const current = await existing(tx, id, now);
    const result = await work(tx, current, now);
    const after = keyView(await existing(tx, id, now), now);
    await audit({ action, subject: id, before: keyView(current, now), after });
    return { after, result };
  });
};

async function existing(reader: Reader, id: string, now: Date): Promise<KeyWithSecrets> {
  return orNotFound(await findKey(reader, idParameter(id), now));
}

const NO_FACTS = { owner: null, team: null, scopes: {}, limits: null, expiresAt: null };

const factsOf = (body: KeyPatch, current: KeyFields): KeyFields => ({
  name: body.name ?? current.name,
  owner: body.owner === undefined ? current.owner : body.owner && storedOwner(body.owner),
  service: body.service ?? current.service ?? false,
  team: body.team === undefined ? current.team : body.team,
  scopes: body.scopes ?? current.scopes,
  limits: body.limits === undefined ? current.limits : limitsOf(body.limits),
  expiresAt: body.expires_at === undefined ? current.expiresAt : instantOf(body.expires_at),
});

function instantOf(text: string | null): string | null {
  const atMs = text === null ? null : readInstant(text);
  return atMs === null ? null : new Date(atMs).toISOString();
}

async function listBatches(deps: AdminDeps, keyId: string, request: Request) {
  const { limit, after } = readListQuery(request, []);
  const id = idParameter(keyId);
  const slice = { after: after && idCursor(after), limit: limit + 1 };
  const rows = await readDatabase(deps, async (db) => {
    if (!(await findKey(db, id, deps.clock.now()))) throw new GatewayError("not_found");
    return listKeyBatches(db, id, slice);
  });
  return pageFrom(rows, limit, { view: batchViewOf, cursor: (row) => row.recordId });
}

const batchViewOf = (row: BatchRow): BatchView =>
  viewAs(BatchView, {
    ...row,
    requests: row.requestsTotal,
    createdAt: row.startedAt,
    floor: row.partial,
    basis: row.costBasis === "batch" ? "batch_rates" : "interactive_rates",
    ceiling: isCeiling(row),
    requestId: row.recordId,
  });
