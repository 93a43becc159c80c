import type { Transaction } from "#drizzle/database.ts";
import { ROLES } from "#shared/admin/people.ts";
import { auditIn, type Origin } from "../../stores/audit.ts";
import { findPersonByAccount, keepAccount } from "../../stores/identity/accounts.ts";
import {
  findPersonByEmail,
  insertPerson,
  type PersonRow,
  storedEmail,
  updatePerson,
} from "../../stores/identity/people.ts";
import { type RoleMappingRow, roleMappingsOf } from "../../stores/identity/role-mappings.ts";
import { personView } from "../person-view.ts";
import type { Identified } from "./way-in.ts";

/**
 * The person who signed in elsewhere: known by the account there, else by the e-mail, else new. The mappings of their
 * groups give the role, and a team if they name one; without one, a person keeps both, and a new one is a member. A
 * disabled person is returned as they are: the caller refuses them.
 */
export async function admitPerson(
  tx: Transaction,
  it: Identified,
  from: Omit<Origin, "actor">,
): Promise<PersonRow> {
  const known = (await findPersonByAccount(tx, it)) ?? (await findPersonByEmail(tx, it.email));
  if (known?.disabled) return known;
  const granted = roleByGroups(await roleMappingsOf(tx, it.groups));
  const facts = {
    role: granted?.role ?? known?.role ?? "member",
    team: granted?.team ?? known?.team ?? null,
    githubLogin: it.githubLogin ?? known?.githubLogin ?? null,
  };
  const person = known
    ? await brought(tx, { ...known, ...facts }, { known, from })
    : await added(tx, { ...facts, email: it.email, name: it.name }, from);
  await keepAccount(tx, it, { personId: person.id, now: from.at });
  return person;
}

type Before = { known: PersonRow; from: Omit<Origin, "actor"> };

/** A known person, updated with the facts of the sign-in. */
async function brought(tx: Transaction, wanted: PersonRow, { known, from }: Before): Promise<PersonRow> {
  const isSame = (["role", "team", "githubLogin"] as const).every((name) => wanted[name] === known[name]);
  if (isSame) return known;
  const row = { ...wanted, updatedAt: from.at };
  await updatePerson(tx, row);
  const audit = auditIn(tx, { ...from, actor: row.email });
  await audit({
    action: "person.changed",
    subject: row.email,
    before: personView(known),
    after: personView(row),
  });
  return row;
}

async function added(
  tx: Transaction,
  facts: Parameters<typeof insertPerson>[1],
  from: Omit<Origin, "actor">,
): Promise<PersonRow> {
  const row = await insertPerson(tx, facts, from.at);
  const audit = auditIn(tx, { ...from, actor: storedEmail(facts.email) });
  await audit({ action: "person.created", subject: row.email, after: personView(row) });
  return row;
}

/**
 * What the mappings of a person's groups grant: the highest role, and the team of its mapping; of equal ones, the first
 * with a team. Null: no mapping counts.
 */
function roleByGroups(mappings: readonly RoleMappingRow[]): Pick<RoleMappingRow, "role" | "team"> | null {
  const role = ROLES.findLast((it) => mappings.some((mapping) => mapping.role === it));
  if (role === undefined) return null;
  const teams = mappings.filter((it) => it.role === role).map(({ team }) => team);
  return { role, team: teams.find((team) => team !== null) ?? null };
}
