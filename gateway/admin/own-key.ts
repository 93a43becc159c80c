import type { Transaction } from "#drizzle/database.ts";
import type { DeviceProgram } from "#shared/admin/device-sign-ins.ts";
import type { KeyView } from "#shared/admin/keys.ts";
import { OWN_KEYS_MAX } from "#shared/admin/me.ts";
import { GatewayError } from "../errors.ts";
import type { Audit } from "../stores/audit.ts";
import type { Reader } from "../stores/change.ts";
import { requireNotDisabled } from "../stores/identity/people.ts";
import { findKey, insertKey, type KeyWithSecrets, keyNamesOf, listKeysOf } from "../stores/keys.ts";
import { readSettings } from "../stores/settings.ts";
import { keyTemplateOf } from "../stores/teams.ts";
import { keyView, limitsOf } from "./key-view.ts";

export type KeyOwner = { email: string; team: string | null };

type Wanted = {
  name: string;
  expiresAt: string | null;
  now: Date;
  /** The program that signs its owner in by it. */
  program?: DeviceProgram | null;
  /** When the secret ends; absent: with the key. */
  secretExpiresAt?: string;
};

/**
 * Makes a key of a person, with the scopes and limits of their team's or the installation's template.
 * @throws GatewayError conflict when the person is disabled by now, has as many as there may be, or has had one of this name.
 */
export async function makeOwnKey(
  { tx, audit }: { tx: Transaction; audit: Audit },
  owner: KeyOwner,
  { name, now, ...wanted }: Wanted,
): Promise<{ key: KeyView; secret: string }> {
  await requireNotDisabled(tx, owner.email);
  await requireRoomForKey(tx, owner, now);
  const template = (await keyTemplateOf(tx, owner.team)) ?? (await readSettings(tx)).own_key_template;
  const facts = {
    name: `${name}${suffixOf(owner)}`,
    owner: owner.email,
    team: null,
    own: true,
    scopes: template.scopes ?? {},
    limits: limitsOf(template.limits),
    ...wanted,
  };
  const { id, secret } = await insertKey(tx, facts, now);
  const made = await findKey(tx, id, now);
  if (!made) throw new Error("An inserted key was not found.");
  await audit({ action: "key.created", subject: id, after: keyView(made, now) });
  return { key: ownKeyView(made, owner, now), secret };
}

/** @throws GatewayError conflict */
export async function requireRoomForKey(reader: Reader, { email }: KeyOwner, now: Date): Promise<void> {
  const keys = await listKeysOf(reader, email, now);
  const valid = keys.filter(({ expiresAt }) => expiresAt === null || Date.parse(expiresAt) > now.getTime());
  if (valid.length < OWN_KEYS_MAX) return;
  throw new GatewayError("conflict", `You have ${OWN_KEYS_MAX} keys. Revoke one first.`);
}

/** `wanted`, or the first of `wanted 2`, `wanted 3`, … that the person has never had as a key's name. */
export async function freeKeyName(reader: Reader, owner: KeyOwner, wanted: string): Promise<string> {
  const taken = new Set(await keyNamesOf(reader, owner.email));
  let name = wanted;
  for (let number = 2; taken.has(`${name}${suffixOf(owner)}`); number++) name = `${wanted} ${number}`;
  return name;
}

/** Key names are unique in the organisation: with the e-mail behind it, a name is only ever taken by oneself. */
const suffixOf = ({ email }: Pick<KeyOwner, "email">): string => ` (${email})`;

/** A key as its owner sees it: without the e-mail behind its name. */
export function ownKeyView(key: KeyWithSecrets, owner: Pick<KeyOwner, "email">, now: Date): KeyView {
  const view = keyView(key, now);
  const suffix = suffixOf(owner);
  return view.name.endsWith(suffix) ? { ...view, name: view.name.slice(0, -suffix.length) } : view;
}
