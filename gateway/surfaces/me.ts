import { Elysia } from "elysia";
import { Me, OWN_DIMENSIONS, OwnOverview, type OwnSession, OwnSessions } from "#shared/admin/me.ts";
import { storedEmail } from "#shared/admin/people.ts";
import { SeatUse } from "#shared/admin/seats.ts";
import { isId } from "#shared/ids.ts";
import { COMPARES, RANGES, Result } from "#shared/report.ts";
import { noContent, ownRoute } from "../admin/documented.ts";
import { readParameters, requireKnown } from "../admin/list.ts";
import { ownBudgets } from "../admin/own-budgets.ts";
import { ownKeyView } from "../admin/own-key.ts";
import { seatUse } from "../bills/seats.ts";
import { GatewayError, refuse } from "../errors.ts";
import { type OwnUsageDeps, ownMonth, ownReport, ownReports } from "../identity/own-month.ts";
import { type Own, type OwnDeps, ownPerson } from "../identity/own-person.ts";
import type { Origin } from "../stores/audit.ts";
import { audited } from "../stores/change.ts";
import { endSession, listSessions, type SessionRow } from "../stores/identity/sessions.ts";
import { listKeysOf } from "../stores/keys.ts";
import { withStoreErrors } from "../stores/store-errors.ts";

export type MeDeps = OwnDeps & OwnUsageDeps & { reportTimeZone(): string };

const FRAME = {
  by: `What to group by: ${OWN_DIMENSIONS.join(", ")}. Default: day.`,
  range: `One of ${RANGES.join(", ")}. Default: mtd.`,
  from: "Instead of a range: a date, or RFC 3339.",
  to: "A date (including that day), or RFC 3339. Default: now.",
};

/** `GET /v1/me`: who is signed in, this month's cost, and what is theirs. */
export const me = (deps: MeDeps) =>
  new Elysia({ name: "surface.me", prefix: "/v1/me" })
    .use(ownPerson(deps))
    .get(
      "",
      ({ own }) => meOf(deps, own),
      ownRoute("read", {
        summary: "Who is signed in, what they spent this month, and their keys and sessions",
        description: "With the session cookie, or with one of one's own client keys.",
        answers: { 200: Me },
      }),
    )
    .get("/usage", ({ request, own }) => ownReport(deps, own.email, readUsage(deps, request)), {
      ...ownRoute("read", {
        summary: "Own calls: their number, tokens and cost",
        query: { ...FRAME, compare: `One of ${COMPARES.join(", ")}. Default: none.` },
        answers: { 200: Result },
      }),
    })
    .get("/overview", ({ request, own }) => ownOverview(deps, own, request), {
      ...ownRoute("read", {
        summary:
          "Own calls of this month, by day and by a group, of one snapshot, and the budgets they count in",
        query: FRAME,
        answers: { 200: OwnOverview },
      }),
    })
    .get(
      "/seats",
      ({ own }) => seatUse(deps.database, deps.clock.now().toISOString().slice(0, 7), storedEmail(own.email)),
      ownRoute("read", {
        summary: "Own subscriptions of this month, and their use",
        answers: { 200: SeatUse },
      }),
    )
    .get("/sessions", async ({ own }) => ({ data: await sessionsOf(deps, own) }), {
      ...ownRoute("read", { summary: "List own sessions, newest first", answers: { 200: OwnSessions } }),
    })
    .delete("/sessions/:id", ({ params, own, origin }) => revokeSession(deps, { own, origin }, params.id), {
      ...ownRoute("change", { summary: "End an own session", answers: { 204: null } }),
    });

/** @throws GatewayError invalid_request for an unknown parameter or value. */
function readUsage(deps: MeDeps, request: Request): Parameters<typeof ownReport>[2] {
  const given = readParameters(request, ["by", "range", "from", "to", "compare"]);
  const { by = "day", from = null, to = null, compare = "none" } = given;
  const isOwn = from !== null || to !== null;
  if (isOwn && given.range) refuse("range: Expected without from and to.");
  const { range = "mtd" } = given;
  requireKnown({ by, range, compare }, { by: OWN_DIMENSIONS, range: RANGES, compare: COMPARES });
  const dimension = OWN_DIMENSIONS.find((known) => known === by) ?? "day";
  return {
    dimensions: [dimension],
    measures: ["requests", "input_tokens", "output_tokens", "cost_usd"],
    range: isOwn ? { from, to } : (RANGES.find((known) => known === range) ?? "mtd"),
    compare: COMPARES.find((known) => known === compare) ?? "none",
    view: "table",
    timeZone: deps.reportTimeZone(),
  };
}

async function ownOverview(deps: MeDeps, own: Own, request: Request): Promise<OwnOverview> {
  const now = deps.clock.now();
  const { timeZone = "UTC", ...groups } = readUsage(deps, request);
  const month = { ...groups, range: "mtd", compare: "none" } as const;
  const { results, time_zone } = await ownReports(deps, own.email, {
    timeZone,
    specs: [{ ...month, dimensions: [] }, { ...groups, dimensions: ["day"] }, groups],
  });
  const [ofMonth, ofDays, ofGroups] = results;
  if (!ofMonth || !ofDays || !ofGroups) throw new GatewayError("internal");
  const budgets = await withStoreErrors(async () => {
    const keys = await listKeysOf(deps.database.db, own.email, now);
    return await ownBudgets(deps.database.db, { ...own, keys }, now);
  });
  return { month: ofMonth, days: ofDays, groups: ofGroups, budgets, time_zone };
}

async function revokeSession(
  { database }: MeDeps,
  { own, origin }: { own: Own; origin: Origin },
  id: string,
): Promise<Response> {
  const { personId, email } = own;
  await audited(database, origin, async (tx, audit) => {
    const isEnded = personId !== null && isId(id) && (await endSession(tx, personId, id));
    if (!isEnded) throw new GatewayError("not_found");
    await audit({ action: "session.revoked", subject: email, before: { session: id } });
  });
  return noContent();
}

async function sessionsOf({ database, clock }: MeDeps, own: Own): Promise<OwnSession[]> {
  const { personId } = own;
  if (personId === null) return [];
  const rows = await withStoreErrors(() => listSessions(database.db, personId, clock.now()));
  return rows.map((session) => sessionView(session, own));
}

async function meOf(deps: MeDeps, own: Own): Promise<Me> {
  const now = deps.clock.now();
  const { email, name, role, team, githubLogin } = own;
  const keys = await withStoreErrors(() => listKeysOf(deps.database.db, email, now));
  return {
    email,
    name,
    role,
    team,
    github_login: githubLogin,
    report_time_zone: deps.reportTimeZone(),
    month: await ownMonth(deps, email, keys),
    keys: keys.map((key) => ownKeyView(key, own, now)),
    sessions: await sessionsOf(deps, own),
  };
}

const sessionView = (session: SessionRow, { sessionId }: Own): OwnSession => ({
  id: session.id,
  current: session.id === sessionId,
  address: session.ipAddress,
  user_agent: session.userAgent,
  created_at: session.createdAt.toISOString(),
  expires_at: session.expiresAt.toISOString(),
});
