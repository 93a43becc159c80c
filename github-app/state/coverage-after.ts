import type { installations, repositories } from "#drizzle/schema/github.ts";
import type { InstallationFacts, Sighting } from "../facts/facts.ts";
import { later } from "./later.ts";

export type InstallationState = Omit<typeof installations.$inferSelect, "orgId">;
export type RepositoryState = Omit<typeof repositories.$inferSelect, "orgId">;

/** Former names kept of a repository. */
const FORMER_NAMES_MAX = 50;

/**
 * An installation after one more report of it, in any order: the latest counts, and a removal is final. GitHub does not
 * advance an installation's time when it is unsuspended, so at equal times active wins over suspended.
 */
export function installationAfter(
  state: InstallationState | null,
  facts: InstallationFacts,
): InstallationState {
  const seen: InstallationState = {
    id: facts.installation.id,
    accountLogin: facts.accountLogin,
    accountId: facts.accountId,
    state: facts.state,
    changedAt: facts.at,
    permissions: facts.permissions,
  };
  if (state === null) return seen;
  const removed = state.state === "removed" || seen.state === "removed";
  return {
    ...later(state, seen, (it) => [
      ...[it.changedAt, it.accountLogin, it.accountId],
      JSON.stringify(Object.entries(it.permissions ?? {}).sort()),
    ]),
    state: removed ? "removed" : later(state, seen, (it) => [it.changedAt, it.state === "active"]).state,
  };
}

/**
 * A repository after one more sighting of it, in any order: name, installation and coverage are those of the latest
 * sighting, and every other name is a former one. A sighting through a removed installation covers nothing.
 */
export function repositoryAfter(
  state: RepositoryState | null,
  sighting: Sighting,
  installationRemoved: boolean,
): RepositoryState {
  const seen: RepositoryState = {
    id: sighting.id,
    installationId: sighting.installationId,
    fullName: sighting.fullName,
    formerNames: sighting.formerNames.filter((name) => name !== sighting.fullName),
    covered: sighting.covered && !installationRemoved,
    isPrivate: sighting.isPrivate,
    changedAt: sighting.at,
  };
  if (state === null) return seen;
  // Of two that differ within a second, the one that shows less counts.
  const latest = later(state, seen, (it) => [...sightingKey(it), openness(it)]);
  const names = new Set([state.fullName, ...state.formerNames, seen.fullName, ...seen.formerNames]);
  names.delete(latest.fullName);
  const agreeing = [state, seen].filter((it) => sightingKey(it).join(" ") === sightingKey(latest).join(" "));
  return {
    ...latest,
    formerNames: [...names].sort().slice(0, FORMER_NAMES_MAX),
    covered: agreeing.every((it) => it.covered),
  };
}

const openness = ({ isPrivate }: RepositoryState) => (isPrivate === null ? 1 : isPrivate ? 0 : 2);

const sightingKey = (it: RepositoryState) => [it.changedAt, it.installationId ?? 0, it.fullName];
