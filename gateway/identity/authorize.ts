import { includesRole } from "#shared/admin/people.ts";
import { GatewayError } from "../errors.ts";
import { readCredentials } from "../http/credentials.ts";
import { authenticate, type CallerCheck } from "../plugins/client-key.ts";
import { CREDENTIALS } from "../plugins/refusals.ts";
import type { TeamScope } from "../reports/forced-team.ts";
import { audited } from "../stores/change.ts";
import type { SavedScope } from "../stores/reports/saved-reports.ts";
import { withStoreErrors } from "../stores/store-errors.ts";
import { teamsWithin } from "../stores/teams.ts";
import { savedScope } from "./scope.ts";
import { hasKey, identify, isOfAdministration, type ViewerDeps } from "./viewer.ts";

/** Who may read reports, and which records they cover. */
export type ReportReader = {
  /** As the audit log names them. */
  actor: string;
  /** The restriction of every report; null: no limit. */
  scope: TeamScope | null;
  /** Which saved reports there are for them. */
  saved: SavedScope;
  /** A `set-cookie` that the answer must carry. */
  cookie: string | null;
};

/**
 * Reports are open to managers and administrators, and to client keys with `scopes.reports`.
 * @throws GatewayError unauthenticated; too_many_refusals; role_not_allowed; reports_not_allowed; foreign_origin.
 */
export async function authorizeReports(
  deps: ViewerDeps & { callers: CallerCheck },
  request: Request,
): Promise<ReportReader> {
  const { bearer } = readCredentials(request.headers);
  if (hasKey(request.headers) && !(bearer !== null && isOfAdministration(deps, bearer))) {
    const { key } = await authenticate(deps.callers, request);
    if (key.scopes.reports !== true) throw new GatewayError("reports_not_allowed");
    return { actor: key.owner ?? key.name, scope: null, saved: null, cookie: null };
  }
  const viewer = await identify(deps, request);
  const { actor, role, team, cookie } = viewer;
  if (!includesRole(role, "manager")) throw new GatewayError("role_not_allowed");
  const saved = savedScope(viewer);
  if (role === "administrator" || team === null) return { actor, scope: null, saved, cookie };
  const teams = await withStoreErrors(() => teamsWithin(deps.database.db, team));
  return { actor, scope: { team, teams }, saved, cookie };
}

/** For programs: a cookie does not count. @throws GatewayError unauthenticated; too_many_refusals; role_not_allowed. */
export async function requireAdministrator(deps: ViewerDeps, request: Request): Promise<void> {
  if (!hasKey(request.headers)) throw new GatewayError("unauthenticated", CREDENTIALS.admin_key);
  const { role } = await identify(deps, request);
  if (role !== "administrator") throw new GatewayError("role_not_allowed");
}

type Exporting = Pick<ViewerDeps, "database" | "refusals" | "clock"> & { request: Request; actor: string };

/** Writes to the audit log that a person exported figures as a file. */
export async function noteExport(
  { database, refusals, clock, request, actor }: Exporting,
  subject: string,
): Promise<void> {
  const origin = { actor, address: refusals.addressOf(request), requestId: null, at: clock.now() };
  await audited(database, origin, (_, audit) => audit({ action: "data.exported", subject }));
}
