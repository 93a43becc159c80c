import type { Transaction } from "#drizzle/database.ts";
import type { Audit } from "../stores/audit.ts";
import { accountsOf } from "../stores/identity/accounts.ts";
import { type PersonRow, updatePerson } from "../stores/identity/people.ts";
import { roleMappingsOf } from "../stores/identity/role-mappings.ts";
import { peopleOfGroup, scimGroupsOf } from "../stores/identity/scim-groups.ts";
import { grantedTo } from "./granted-role.ts";
import { personView } from "./person-view.ts";

type Changing = { tx: Transaction; audit: Audit; now: Date };

/** Gives the people of a group, and those who were in it (`before`), what their groups give. */
export async function applyGroup(it: Changing, name: string, before: readonly PersonRow[] = []) {
  const people = new Map([...before, ...(await peopleOfGroup(it.tx, name))].map((row) => [row.id, row]));
  for (const person of people.values()) await applyGrants(it, person);
}

/** Gives a person the role and team of the groups that they have now, and the facts of their sign-in. */
export async function applyGrants(
  { tx, audit, now }: Changing,
  known: PersonRow,
  facts: Partial<Pick<PersonRow, "githubLogin">> = {},
): Promise<PersonRow> {
  const bySignIn = (await accountsOf(tx, known.id)).flatMap((account) => account.groups);
  const groups = [...bySignIn, ...(await scimGroupsOf(tx, known.id))];
  const row = { ...known, ...facts, ...grantedTo(known, await roleMappingsOf(tx, groups)) };
  if (Bun.deepEquals(row, known)) return known;
  const changed = { ...row, updatedAt: now };
  await updatePerson(tx, changed);
  const [before, after] = [personView(known), personView(row)];
  if (!Bun.deepEquals(before, after)) {
    await audit({ action: "person.changed", subject: row.email, before, after: personView(changed) });
  }
  return changed;
}
