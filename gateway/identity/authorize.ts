import { includesRole } from "#shared/admin/people.ts";
import { GatewayError } from "../errors.ts";
import { readCredentials } from "../http/credentials.ts";
import { requestIdOf } from "../http/listener.ts";
import { authenticate, type CallerCheck } from "../plugins/client-key.ts";
import { CREDENTIALS } from "../plugins/refusals.ts";
import type { TeamScope } from "../reports/forced-team.ts";
import { audited } from "../stores/change.ts";
import type { SavedScope } from "../stores/reports/saved-reports.ts";
import { withStoreErrors } from "../stores/store-errors.ts";
import { teamsWithin } from "../stores/teams.ts";
import { savedScope } from "./scope.ts";
import { hasKey, identify, isOfAdministration, type ViewerDeps, withScope } from "./viewer.ts";
import { withoutEmails } from "./without-emails.ts";

/** Who may read reports, and which records they cover. */
export type ReportReader = {
  /** As the audit log names them. */
  actor: string;
  /** The restriction of every report; null: no limit. */
  scope: TeamScope | null;
  saved: SavedScope;
  /** Replaces the e-mails of a report; absent: they are shown. */
  masks?: (text: string) => string;
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
  const viewer = withScope(await identify(deps, request), ["reports"]);
  const { actor, role, team, cookie } = viewer;
  if (!includesRole(role, "manager")) throw new GatewayError("role_not_allowed");
  const saved = savedScope(viewer);
  const masks = (text: string) => withoutEmails(text, deps.cookieSecret);
  const reader = { actor, saved, cookie, ...(viewer.masksEmails && { masks }) };
  if (role === "administrator" || team === null) return { ...reader, scope: null };
  const teams = await withStoreErrors(() => teamsWithin(deps.database.db, team));
  return { ...reader, scope: { team, teams } };
}

/**
 * What the caller sees of the metrics: names of keys may hold e-mails of any team. For programs: a cookie does not count.
 * @throws GatewayError unauthenticated; too_many_refusals; role_not_allowed.
 */
export async function authorizeMetrics(
  deps: ViewerDeps,
  request: Request,
): Promise<(text: string) => string> {
  if (!hasKey(request.headers)) throw new GatewayError("unauthenticated", CREDENTIALS.admin_key);
  const { role, scopes } = await identify(deps, request);
  if (role === "administrator") return (text) => text;
  if (!scopes?.includes("metrics")) throw new GatewayError("role_not_allowed");
  return (text) => withoutEmails(text, deps.cookieSecret);
}

type Exporting = Pick<ViewerDeps, "database" | "refusals" | "clock"> & { request: Request; actor: string };

/** Writes to the audit log that a person exported figures as a file. */
export async function noteExport({ database, refusals, clock, request, actor }: Exporting, subject: string) {
  const address = refusals.addressOf(request);
  const origin = { actor, address, requestId: requestIdOf(request), at: clock.now() };
  await audited(database, origin, (_, audit) => audit({ action: "data.exported", subject }));
}
