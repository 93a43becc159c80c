import { Elysia } from "elysia";
import type { Transaction } from "#drizzle/database.ts";
import type { AuditAction } from "#drizzle/schema/audit.ts";
import { readInstant } from "#shared/admin/fields.ts";
import { type KeyView, KeyWithSecret, RotateBody } from "#shared/admin/keys.ts";
import { OWN_KEYS_MAX, OwnKeyBody, OwnKeys } from "#shared/admin/me.ts";
import { isId } from "#shared/ids.ts";
import { readJson } from "../admin/body.ts";
import { created, noContent, ownRoute } from "../admin/documented.ts";
import { limitsOf } from "../admin/key-limits.ts";
import { keyView } from "../admin/key-view.ts";
import { GatewayError } from "../errors.ts";
import { type Own, type OwnDeps, ownPerson } from "../identity/own-person.ts";
import type { Origin } from "../stores/audit.ts";
import { change, type Reader } from "../stores/change.ts";
import type { DirectoryStore } from "../stores/directory/directory.ts";
import { findKey, insertKey, type KeyWithSecrets, listKeysOf, revokeKey, rotateKey } from "../stores/keys.ts";
import { readSettings } from "../stores/settings.ts";
import { withStoreErrors } from "../stores/store-errors.ts";
import { keyTemplateOf } from "../stores/teams.ts";
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
    const keys = await listKeysOf(tx, own.email, now);
    const fullName = `${name}${suffixOf(own)}`;
    const valid = keys.filter(({ expiresAt }) => expiresAt === null || Date.parse(expiresAt) > now.getTime());
    if (valid.length >= OWN_KEYS_MAX) {
      throw new GatewayError("conflict", `You have ${OWN_KEYS_MAX} keys. Revoke one first.`);
    }
    const template = (await keyTemplateOf(tx, own.team)) ?? (await readSettings(tx)).own_key_template;
    const { id, secret } = await insertKey(
      tx,
      {
        name: fullName,
        owner: own.email,
        team: null,
        scopes: template.scopes ?? {},
        limits: limitsOf(template.limits),
        expiresAt: endMs === null ? null : new Date(endMs).toISOString(),
      },
      now,
    );
    const key = await ownKey(tx, { own, id, now });
    await audit({ action: "key.created", subject: id, after: keyView(key, now) });
    return { ...ownKeyView(key, own, now), secret };
  });
  await deps.directory.refresh();
  return created(made);
}

async function ownKey(reader: Reader, it: { own: Own; id: string; now: Date }): Promise<KeyWithSecrets> {
  const key = isId(it.id) ? await findKey(reader, it.id, it.now) : null;
  const isTheirs = key?.owner?.toLowerCase() === it.own.email && key.revokedAt === null;
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

/** Key names are unique in the organisation: with the e-mail behind it, a name is only ever taken by oneself. */
const suffixOf = ({ email }: Own): string => ` (${email})`;

/** A key as its owner sees it: without the e-mail behind its name. */
export function ownKeyView(key: KeyWithSecrets, own: Own, now: Date): KeyView {
  const view = keyView(key, now);
  const suffix = suffixOf(own);
  return view.name.endsWith(suffix) ? { ...view, name: view.name.slice(0, -suffix.length) } : view;
}
