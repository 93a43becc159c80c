import type { KeyLimits } from "#drizzle/schema/keys.ts";

/** A team's budget: limits count it as they count those of a key, under an account in place of the key's id. */
export type TeamBudget = {
  id: string;
  team: string;
  limits: Pick<KeyLimits, "budget_usd" | "budget_period">;
};

/** The account of a team's budget. The trigger of `requests` books what its calls cost there, by the same rule. */
export function teamAccount(team: string): string {
  const hex = new Bun.CryptoHasher("md5").update(`team ${team}`).digest("hex");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
