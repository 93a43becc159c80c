import type { Transaction } from "#drizzle/database.ts";
import { TokenView } from "#shared/admin/tokens.ts";
import { viewAs } from "#shared/view-as.ts";
import { GatewayError } from "../errors.ts";
import { personView } from "../identity/person-view.ts";
import type { Audit } from "../stores/audit.ts";
import {
  findPerson,
  findPersonByEmail,
  insertPerson,
  type NewPerson,
  type PersonRow,
  updatePerson,
} from "../stores/identity/people.ts";
import { endSessions } from "../stores/identity/sessions.ts";
import { deleteTokensOf } from "../stores/identity/tokens.ts";
import { listKeysOf, revokeKey } from "../stores/keys.ts";
import { requireTeam } from "../stores/teams.ts";
import { keyView } from "./key-view.ts";
import { idParameter } from "./list.ts";

/** A change under way. */
export type Changing = { tx: Transaction; audit: Audit; now: Date };

/** The person in an address, by id or e-mail. @throws GatewayError not_found */
export async function personAt(reader: Parameters<typeof findPerson>[0], name: string): Promise<PersonRow> {
  const person = name.includes("@")
    ? await findPersonByEmail(reader, name)
    : await findPerson(reader, idParameter(name));
  if (!person) throw new GatewayError("not_found");
  return person;
}

/** Adds a person. @throws GatewayError conflict for a taken e-mail; invalid_request for an unknown team. */
export async function addPerson(it: Changing, facts: NewPerson, disabled: boolean): Promise<PersonRow> {
  const { tx, audit, now } = it;
  if (await findPersonByEmail(tx, facts.email)) throw new GatewayError("conflict", "This e-mail is taken.");
  await requireTeam(tx, facts.team);
  const inserted = await insertPerson(tx, facts, now);
  const made = { ...inserted, disabled };
  if (disabled) await updatePerson(tx, made);
  await audit({ action: "person.created", subject: made.email, after: personView(made) });
  if (disabled) await shutOut(it, made);
  return made;
}

type Budget = Pick<PersonRow, "budgetUsd" | "budgetPeriod" | "unpriced">;
type Wanted = Partial<Pick<PersonRow, "name" | "githubLogin" | "role" | "team" | "disabled"> & Budget>;

/** Changes a person; one who is disabled by it loses sessions and keys. @throws GatewayError invalid_request */
export async function changePerson(it: Changing, before: PersonRow, wanted: Wanted): Promise<PersonRow> {
  const { tx, audit, now } = it;
  const after: PersonRow = {
    ...before,
    ...wanted,
    // What an administrator sets is no mapping's any more, until the next sign-in.
    unmapped: without(before.unmapped, wanted),
    updatedAt: now,
  };
  if (after.team !== before.team) await requireTeam(tx, after.team);
  await updatePerson(tx, after);
  const isDisabled = after.disabled && !before.disabled;
  const action = isDisabled ? "person.disabled" : "person.changed";
  await audit({ action, subject: after.email, before: personView(before), after: personView(after) });
  // Also at the end of it: a token or sign-in may have been under way when it began.
  if (after.disabled !== before.disabled) await shutOut(it, after);
  return after;
}

const without = ({ role, team }: PersonRow["unmapped"], wanted: Wanted): PersonRow["unmapped"] => ({
  ...(role !== undefined && wanted.role === undefined && { role }),
  ...(team !== undefined && wanted.team === undefined && { team }),
});

/** Ends a person's sessions and keys, and the tokens that they made, for good. */
async function shutOut({ tx, audit, now }: Changing, person: PersonRow): Promise<void> {
  await endSessions(tx, person.id);
  for (const key of await listKeysOf(tx, person.email, now)) {
    await revokeKey(tx, key.id, now);
    await audit({ action: "key.revoked", subject: key.id, before: keyView(key, now) });
  }
  for (const token of await deleteTokensOf(tx, person.email)) {
    await audit({ action: "token.revoked", subject: token.name, before: viewAs(TokenView, token) });
  }
}
