import { Elysia } from "elysia";
import type { Transaction } from "#drizzle/database.ts";
import type { AuditAction } from "#drizzle/schema/audit.ts";
import { readInstant } from "#shared/admin/fields.ts";
import { type KeyView, KeyWithSecret, RotateBody } from "#shared/admin/keys.ts";
import { OWN_KEYS_MAX, OwnKeyBody, OwnKeys } from "#shared/admin/me.ts";
import { storedEmail } from "#shared/admin/people.ts";
import { isId } from "#shared/ids.ts";
import { created, noContent, ownRoute } from "../admin/documented.ts";
import { keyView } from "../admin/key-view.ts";
import { makeOwnKey, ownKeyView } from "../admin/own-key.ts";
import { GatewayError } from "../errors.ts";
import { type Own, type OwnDeps, ownPerson } from "../identity/own-person.ts";
import { readJson } from "../plugins/body.ts";
import type { Origin } from "../stores/audit.ts";
import { change, type Reader } from "../stores/change.ts";
import type { DirectoryStore } from "../stores/directory/directory.ts";
import { findKey, type KeyWithSecrets, listKeysOf, revokeKey, rotateKey } from "../stores/keys.ts";
import { withStoreErrors } from "../stores/store-errors.ts";
import type { RequestBodyDeps } from "../upstream/request-body.ts";

export type MeKeysDeps = OwnDeps & RequestBodyDeps & { directory: Pick<DirectoryStore, "refresh"> };

/** `/v1/me/keys`: the client keys that a person makes for their own work. */
export const meKeys = (deps: MeKeysDeps) =>
  new Elysia({ name: "surface.me-keys", prefix: "/v1/me/keys" })
    .use(ownPerson(deps))
    .get("", ({ own }) => list(deps, own), { ...LIST })
    .post("", ({ request, own, origin }) => create(deps, { own, origin }, request), { ...CREATE })
    .post(
      "/:id/rotate",
      async ({ request, params, own, origin }) => {
        const { grace_seconds: graceSeconds = 0 } = await readJson(deps, request, RotateBody);
        const it = { own, origin, id: params.id, action: "key.rotated" } as const;
        const { after, result: secret } = await changeOwn(deps, it, (tx, key, now) =>
          rotateKey(tx, key.id, { now, graceSeconds }),
        );
        return { ...after, secret };
      },
      { ...ROTATE },
    )
    .delete(
      "/:id",
      async ({ params, own, origin }) => {
        const it = { own, origin, id: params.id, action: "key.revoked" } as const;
        await changeOwn(deps, it, (tx, key, now) => revokeKey(tx, key.id, now));
        return noContent();
      },
      { ...REVOKE },
    );

const LIST = ownRoute("read", { summary: "List own client keys", answers: { 200: OwnKeys } });
const CREATE = ownRoute("change", {
  summary: "Create an own client key",
  description: `Scopes and limits come from the team's or the installation's template. At most ${OWN_KEYS_MAX} keys at a time.`,
  body: OwnKeyBody,
  answers: { 201: KeyWithSecret },
});
const ROTATE = ownRoute("change", {
  summary: "Give an own client key a new secret",
  description: "The old secret stays valid for `grace_seconds`.",
  body: RotateBody,
  answers: { 200: KeyWithSecret },
});
const REVOKE = ownRoute("change", {
  summary: "Revoke an own client key",
  description: "Permanent, and effective everywhere within five seconds.",
  answers: { 204: null },
});

async function list({ database, clock }: MeKeysDeps, own: Own): Promise<{ data: KeyView[] }> {
  const now = clock.now();
  const keys = await withStoreErrors(() => listKeysOf(database.db, own.email, now));
  return { data: keys.map((key) => ownKeyView(key, own, now)) };
}

type Asked = { own: Own; origin: Origin };

async function create(deps: MeKeysDeps, { own, origin }: Asked, request: Request): Promise<Response> {
  const { name, expires_at: end = null } = await readJson(deps, request, OwnKeyBody);
  const now = deps.clock.now();
  const endMs = end === null ? null : readInstant(end);
  const made = await change(deps.database, origin, async (tx, audit) => {
    const expiresAt = endMs === null ? null : new Date(endMs).toISOString();
    const { key, secret } = await makeOwnKey({ tx, audit }, own, { name, expiresAt, now });
    return { ...key, secret };
  });
  await deps.directory.refresh();
  return created(made);
}

async function ownKey(reader: Reader, it: { own: Own; id: string; now: Date }): Promise<KeyWithSecrets> {
  const key = isId(it.id) ? await findKey(reader, it.id, it.now) : null;
  const isTheirs = storedEmail(key?.owner ?? "") === it.own.email && key?.revokedAt === null;
  if (!key || !isTheirs) throw new GatewayError("not_found");
  return key;
}

async function changeOwn<T>(
  deps: MeKeysDeps,
  { own, origin, id, action }: Asked & { id: string; action: AuditAction },
  work: (tx: Transaction, key: KeyWithSecrets, now: Date) => Promise<T>,
): Promise<{ after: KeyView; result: T }> {
  const now = deps.clock.now();
  const changed = await change(deps.database, origin, async (tx, audit) => {
    const before = await ownKey(tx, { own, id, now });
    const result = await work(tx, before, now);
    const after = (await findKey(tx, id, now)) ?? before;
    await audit({ action, subject: id, before: keyView(before, now), after: keyView(after, now) });
    return { after: ownKeyView(after, own, now), result };
  });
  await deps.directory.refresh();
  return changed;
}
