import type { KeyPerson } from "../directory.ts";

/** The account of a team's budget. Triggers book what its calls cost there, by the same rule (`paying_accounts`). */
export const teamAccount = (team: string): string => accountNamed(`team ${team}`);

export const budgetAccount = (name: string): string => accountNamed(`budget ${name}`);

/** Under which what is spent on a route, a tag or the organisation (null) is booked. */
export const scopeAccount = (kind: string, id: string | null): string =>
  accountNamed(`spent on ${kind} ${id ?? ""}`);

/** The accounts of a key's owner, who may be spelled in any case. Triggers book what all their keys cost under `id`. */
export function personAccounts(owner: string): Pick<KeyPerson, "id" | "ownKeys"> {
  const email = owner.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  return { id: accountNamed(`person ${email}`), ownKeys: accountNamed(`own keys ${email}`) };
}

function accountNamed(name: string): string {
  const hex = new Bun.CryptoHasher("md5").update(name).digest("hex");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
