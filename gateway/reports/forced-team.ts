import type { Spec } from "#shared/report.ts";
import { GatewayError } from "../errors.ts";

/** What every report of a team's manager is limited to. */
export type TeamScope = {
  team: string;
  /** The team itself and those below it. */
  teams: readonly string[];
};

/** A spec within a scope's teams. @throws GatewayError role_not_allowed for one outside, whether it exists or not. */
export function forcedTeam(spec: Spec, scope: TeamScope | null): Spec {
  if (scope === null) return spec;
  const { team: asked = [scope.team] } = spec.filters;
  if (!asked.every((name) => scope.teams.includes(name))) {
    throw new GatewayError(
      "role_not_allowed",
      `Your reports cover the team ${scope.team} and the teams below it.`,
    );
  }
  return { ...spec, filters: { ...spec.filters, team: asked } };
}
