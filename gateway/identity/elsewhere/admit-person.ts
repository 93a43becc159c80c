import { domainToASCII } from "node:url";
import type { Transaction } from "#drizzle/database.ts";
import type { Settings } from "#shared/settings.ts";
import { auditIn, type Origin } from "../../stores/audit.ts";
import { accountsOf, findPersonByAccount, keepAccount } from "../../stores/identity/accounts.ts";
import { findPersonByEmail, insertPerson, type PersonRow } from "../../stores/identity/people.ts";
import { type RoleMappingRow, roleMappingsOf } from "../../stores/identity/role-mappings.ts";
import { scimGroupsOf } from "../../stores/identity/scim-groups.ts";
import { readSettings } from "../../stores/settings.ts";
import { grantedTo } from "../granted-role.ts";
import { applyGrants } from "../mapped-people.ts";
import { personView } from "../person-view.ts";
import { spellingsOfEmail } from "./sign-in-email.ts";
import { type Identified, SignInFault } from "./way-in.ts";

type Entering = { it: Identified; mappings: readonly RoleMappingRow[]; from: Omit<Origin, "actor"> };

/**
 * The person who signed in elsewhere: known by the account there, else found by the e-mail, else new. The mappings of their
 * groups give the role, and a team if they name one. A disabled person is returned as they are: the caller refuses them. A
 * fault: other_account, email_unusual, domain_not_allowed or group_missing.
 */
export async function admitPerson(
  tx: Transaction,
  it: Identified,
  from: Omit<Origin, "actor">,
): Promise<PersonRow | SignInFault> {
  const byAccount = await findPersonByAccount(tx, it);
  const known = byAccount ?? (await invited(tx, it));
  if (known instanceof SignInFault || known?.disabled) return known;
  const mappings = await roleMappingsOf(tx, it.groups ?? []);
  const { sign_in: rules } = await readSettings(tx);
  const refused = refusalBy(rules, it, known ? await groupsOf(tx, known.id, it) : []);
  if (refused) return refused;
  const person = known ?? (await added(tx, { it, mappings, from }));
  const groups = it.groups && namedIn(rules, it.groups, mappings);
  await keepAccount(tx, it, { personId: person.id, groups, now: from.at });
  const audit = auditIn(tx, { ...from, actor: person.email });
  if (known && !byAccount) {
    const { way, issuer, accountId } = it;
    const after = { way, issuer, account_id: accountId };
    await audit({ action: "account.linked", subject: person.email, after });
  }
  const githubLogin = it.githubLogin ?? person.githubLogin;
  return await applyGrants({ tx, audit, now: from.at }, person, { githubLogin });
}

/** The person with this e-mail and no account of this way; null: none, nor for another issuer or later holder. */
async function invited(tx: Transaction, { email, way }: Identified): Promise<PersonRow | SignInFault | null> {
  const spellings = spellingsOfEmail(email);
  if (spellings === null) return new SignInFault("email_unusual", email);
  for (const spelling of spellings) {
    const person = await findPersonByEmail(tx, spelling);
    if (!person) continue;
    const hasAccount = (await accountsOf(tx, person.id)).some(({ providerId }) => providerId === way);
    return hasAccount ? new SignInFault("other_account", person.email) : person;
  }
  return null;
}

type Rules = Settings["sign_in"];

const asciiDomain = (email: string): string => domainToASCII(email.slice(email.lastIndexOf("@") + 1));

/** Why the settings keep someone out, who has these groups already; null: they do not. */
function refusalBy(
  { allowed_domains: domains, required_groups: required }: Rules,
  { email, groups }: Identified,
  before: readonly string[],
): SignInFault | null {
  if (domains && !domains.map((it) => domainToASCII(it)).includes(asciiDomain(email))) {
    return new SignInFault("domain_not_allowed", email);
  }
  const isIn = (group: string) => groups?.includes(group) || before.includes(group);
  return required && !required.some(isIn) ? new SignInFault("group_missing", email) : null;
}

/** The groups to keep: those that give something. */
const namedIn = (
  { required_groups: required = [] }: Rules,
  groups: readonly string[],
  mappings: readonly RoleMappingRow[],
): string[] => groups.filter((it) => required.includes(it) || mappings.some(({ group }) => group === it));

/** The groups that a person has in the directory, and those of the account at hand if it leaves them out this time. */
const groupsOf = async (tx: Transaction, personId: string, it: Identified): Promise<string[]> => [
  ...(await scimGroupsOf(tx, personId)),
  ...(await accountsOf(tx, personId))
    .filter(({ providerId }) => providerId === it.way && it.groups === null)
    .flatMap(({ groups }) => groups),
];

async function added(tx: Transaction, { it, mappings, from }: Entering): Promise<PersonRow> {
  const { email, name, githubLogin } = it;
  const granted = grantedTo({ role: "member", team: null, unmapped: {} }, mappings);
  const row = await insertPerson(tx, { email, name, githubLogin, ...granted }, from.at);
  const audit = auditIn(tx, { ...from, actor: row.email });
  await audit({ action: "person.created", subject: row.email, after: personView(row) });
  return row;
}
