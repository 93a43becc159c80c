import type { Database, Transaction } from "#drizzle/database.ts";
import type { Clock } from "#shared/clock.ts";
import { DEFAULT_ORG, isId, newId } from "#shared/ids.ts";
import { GatewayError } from "../../errors.ts";
import { type Audit, auditIn, type Origin } from "../../stores/audit.ts";
import { ownChange, type Reader } from "../../stores/change.ts";
import {
  deleteScimGroup,
  findScimGroup,
  peopleOfGroup,
  type ScimGroupRow,
  scimMembersOf,
  setScimMembers,
  writeScimGroup,
} from "../../stores/identity/scim-groups.ts";
import { applyGroup } from "../mapped-people.ts";
import { ScimError } from "./scim-error.ts";
import type { GroupFacts } from "./scim-group.ts";

/** `id` null: a new group; `next` gives what the group is to be, or null to delete it. @throws ScimError of `next`. */
export type GroupChange = { id: string | null; next: (group: GroupFacts) => GroupFacts | null };

/** @throws GatewayError not_found */
export async function existingGroup(reader: Reader, id: string): Promise<ScimGroupRow> {
  const row = isId(id) ? await findScimGroup(reader, id) : null;
  if (!row) throw new GatewayError("not_found", "No group has this id.");
  return row;
}

/** Changes a group, and gives its people what their groups give now. @throws ScimError; GatewayError not_found. */
export async function saveGroup(
  { database, clock }: { database: Database; clock: Clock },
  origin: Origin,
  { id, next }: GroupChange,
): Promise<ScimGroupRow> {
  const now = clock.now();
  const faults: ScimError[] = [];
  const work = async (tx: Transaction) => {
    const row = id === null ? null : await existingGroup(tx, id);
    const before = await factsOf(tx, row);
    const it = { tx, audit: auditIn(tx, origin), now, row, before };
    try {
      const after = next(before);
      return row && after === null ? await removed(it, row) : await written(it, after ?? before);
    } catch (error) {
      // The store's own errors are translated on the way out; this is a different one.
      if (error instanceof ScimError) faults.push(error);
      throw error;
    }
  };
  return await ownChange(database, work).catch((error: unknown) => {
    const isTaken = error instanceof GatewayError && error.type === "conflict";
    const taken = isTaken ? new ScimError("uniqueness", "A group with this displayName exists.") : error;
    throw faults[0] ?? taken;
  });
}

async function factsOf(tx: Transaction, row: ScimGroupRow | null): Promise<GroupFacts> {
  if (row === null) return { name: "", externalId: null, members: new Set() };
  const members = await scimMembersOf(tx, [row.id]);
  return { ...row, members: new Set(members.map((it) => it.id)) };
}

type Saving = { tx: Transaction; audit: Audit; now: Date; row: ScimGroupRow | null; before: GroupFacts };

async function removed(it: Saving, row: ScimGroupRow): Promise<ScimGroupRow> {
  const people = await peopleOfGroup(it.tx, row.name);
  await deleteScimGroup(it.tx, row.id);
  await it.audit({ action: "directory_group.deleted", subject: row.name, before: stateOf(it.before) });
  await applyGroup(it, row.name, people);
  return row;
}

async function written(it: Saving, after: GroupFacts): Promise<ScimGroupRow> {
  const { tx, row, before, now } = it;
  const people = row === null ? [] : await peopleOfGroup(tx, row.name);
  const { name, externalId } = after;
  const saved = { orgId: DEFAULT_ORG, id: row?.id ?? newId(), createdAt: row?.createdAt ?? now };
  const made = { ...saved, name, externalId, updatedAt: now };
  await writeScimGroup(tx, made);
  await setScimMembers(tx, made.id, after.members);
  const state = stateOf(await factsOf(tx, made));
  // What a directory repeats is no change.
  if (row && name === before.name && Bun.deepEquals(before.members, after.members)) return made;
  const states = { ...(row && { before: stateOf(before) }), after: state };
  await it.audit({ action: "directory_group.set", subject: name, ...states });
  await applyGroup(it, name, people);
  return made;
}

const stateOf = ({ name, members }: GroupFacts) => ({ name, members: members.size });
