import type { Transaction } from "#drizzle/database.ts";
import { ours } from "#drizzle/ours.ts";
import { budgets } from "#drizzle/schema/budgets.ts";
import { adminTokens, people, roleMappings } from "#drizzle/schema/identity.ts";
import { keys } from "#drizzle/schema/keys.ts";
import { teams } from "#drizzle/schema/teams.ts";
import type { KeyTemplate } from "#shared/admin/keys.ts";
import { GatewayError, refuse } from "../errors.ts";
import type { Reader } from "./change.ts";
import { namedRows } from "./rows.ts";

export type TeamRow = typeof teams.$inferSelect;

export const teamRows = namedRows(teams);

export const allTeams = (reader: Reader): Promise<TeamRow[]> => teamRows.all(reader);

/** @throws GatewayError invalid_request for a parent that is unknown, or that is the team itself or below it. */
export async function writeTeam(tx: Transaction, row: TeamRow): Promise<void> {
  const parents = new Map((await allTeams(tx)).map(({ name, parent }) => [name, parent]));
  for (let above = row.parent; above !== null; above = parents.get(above) ?? null) {
    if (above === row.name)
      refuse(
        row.parent === row.name
          ? "/parent: A team cannot be above itself."
          : `/parent: The team ${row.parent} is below the team ${row.name}.`,
      );
    if (!parents.has(above)) refuse(`/parent: No team is named ${above}.`);
  }
  await teamRows.write(tx, row);
}

/**
 * Records keep the team's name. A revoked key loses its team.
 * @throws GatewayError conflict while a team is below it, or anything belongs to it.
 */
export async function deleteTeam(tx: Transaction, name: string): Promise<TeamRow | null> {
  const users = await usersOf(tx, name);
  if (users.length > 0) {
    const shown = users.slice(0, USERS_SHOWN_MAX).join(", ");
    const rest = users.length > USERS_SHOWN_MAX ? ` and ${users.length - USERS_SHOWN_MAX} more` : "";
    throw new GatewayError("conflict", `The team ${name} is used by: ${shown}${rest}.`);
  }
  await tx
    .update(keys)
    .set({ team: null })
    .where(ours(keys, { team: name }));
  return teamRows.remove(tx, name);
}

const USERS_SHOWN_MAX = 10;

/** Objects that refer to a team, such as `key ci`. */
async function usersOf(reader: Reader, team: string): Promise<string[]> {
  const rows = (
    [
      ["team", teams, teams.name, ours(teams, { parent: team })],
      ["budget", budgets, budgets.name, ours(budgets, { kind: "team", scopeId: team })],
      ["key", keys, keys.name, ours(keys, { team, revokedAt: null })],
      ["person", people, people.email, ours(people, { team })],
      ["token", adminTokens, adminTokens.name, ours(adminTokens, { team })],
      ["role mapping of", roleMappings, roleMappings.group, ours(roleMappings, { team })],
    ] as const
  ).map(async ([kind, table, name, isUser]) => {
    const found = await reader.select({ name }).from(table).where(isUser).orderBy(name);
    return found.map((row) => `${kind} ${row.name}`);
  });
  return (await Promise.all(rows)).flat();
}

/** @throws GatewayError invalid_request if no team has this name. */
export async function requireTeam(reader: Reader, name: string | null): Promise<void> {
  if (name !== null && !(await teamRows.find(reader, name))) refuse(`/team: No team is named ${name}.`);
}

/** The template of a team's self-made keys: its own, or that of the nearest team above; null: there is none. */
export const keyTemplateOf = async (reader: Reader, team: string | null): Promise<KeyTemplate | null> =>
  (await nearest(reader, team, ({ keyTemplate }) => keyTemplate !== null))?.keyTemplate ?? null;

/** Claude Code's settings of a team: its own, or those of the nearest team above; null: there are none. */
export const claudeSettingsOf = async (reader: Reader, team: string | null) =>
  (await nearest(reader, team, ({ claudeSettings }) => claudeSettings !== null))?.claudeSettings ?? null;

/** The team or the nearest one above it that fits. */
async function nearest(
  reader: Reader,
  team: string | null,
  fits: (row: TeamRow) => boolean,
): Promise<TeamRow | null> {
  if (team === null) return null;
  const rows = new Map((await allTeams(reader)).map((row) => [row.name, row]));
  for (let row = rows.get(team); row; row = rows.get(row.parent ?? "")) {
    if (fits(row)) return row;
  }
  return null;
}

/** A team and those below it. */
export async function teamsWithin(reader: Reader, name: string): Promise<string[]> {
  const rows = await allTeams(reader);
  const within = new Set([name]);
  for (const above of within) for (const row of rows) if (row.parent === above) within.add(row.name);
  return [...within];
}
