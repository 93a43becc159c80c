import { Elysia } from "elysia";
import { within } from "#drizzle/database.ts";
import { PERIODS, type PeriodName } from "#shared/admin/budgets.ts";
import { Anomalies, FORECAST_SCOPES, ForecastView } from "#shared/admin/forecast.ts";
import { errorFields } from "#shared/log.ts";
import { GatewayError, orNotFound, refuse } from "../errors.ts";
import { access } from "../identity/access.ts";
import { recordScope } from "../identity/scope.ts";
import type { Viewer } from "../identity/viewer.ts";
import { personAccounts, teamAccount } from "../limits/account-ids.ts";
import { budgetPeriodAt } from "../limits/window.ts";
import { type DayCost, type Forecast, forecastOf } from "../reports/forecast.ts";
import type { Reader } from "../stores/change.ts";
import { allDayCosts, costAnomalies, dayCosts, whyUnusual } from "../stores/day-costs.ts";
import { budgetRows, keyNamed } from "../stores/named-budgets.ts";
import { teamRows, teamsWithin } from "../stores/teams.ts";
import { type AdminDeps, awaitSettled, readDatabase } from "./deps.ts";
import { adminRoute } from "./documented.ts";
import { readParameters } from "./list.ts";

const docs = adminRoute("budgets");
const DAY_MS = 86_400_000;
const DAYS_DEFAULT = 7;
const DAYS_MAX = 28;
/** Each reads the records of two days. */
const EXPLAINED_MAX = 20;
/** All of them together; the rest is listed without. */
const EXPLAINING_MAX_MS = 5_000;

/** `/admin/v1/forecast` and `/admin/v1/anomalies`: where a period will end, and days that cost far more than usual. */
export const adminForecast = (deps: AdminDeps) =>
  new Elysia({ name: "admin.forecast", prefix: "/admin/v1" })
    .use(access(deps))
    .get(
      "/forecast",
      async ({ request, viewer }): Promise<ForecastView> => {
        const asked = ownScope(readScope(request), viewer);
        await awaitSettled(deps);
        const now = deps.clock.now();
        return await readDatabase(deps, async (db) => {
          await requireSeen(db, viewer, asked);
          const { account, period } = await accountOf(db, asked);
          const days =
            account === null ? await allDayCosts(db) : ((await dayCosts(db, [account])).get(account) ?? []);
          return viewOf(days, { scope: { kind: asked.kind, id: asked.id }, period, now });
        });
      },
      docs({
        summary: "Forecast what the current period will have cost at its end",
        description:
          "By the weekdays of the last twelve weeks, with a band in which four of five periods end. Without a parameter: the organisation's month. At least two weeks of calls are needed. A manager of a team sees the team and those below it.",
        role: "manager",
        query: {
          team: "The team's name.",
          person: "The person's e-mail.",
          key: "The key's name or id.",
          budget: "A budget's name: its period counts.",
          period: `One of ${PERIODS.join(", ")}. Default: \`month\`.`,
        },
        answers: { 200: ForecastView },
      }),
    )
    .get(
      "/anomalies",
      ({ request, viewer }) => anomalies(deps, request, viewer),
      docs({
        summary: "List days on which a team, a model or a key cost far more than usual, the latest first",
        description:
          "A day is compared with the median of the same weekday in the twelve weeks before, by the median absolute deviation; at least four weeks are needed. Each has what moved its cost by rate, mix and volume. A manager of a team sees the team, those below it, and their keys.",
        role: "manager",
        query: {
          days: `How many days, today included, are judged: 1 to ${DAYS_MAX}. Default: ${DAYS_DEFAULT}.`,
        },
        answers: { 200: Anomalies },
      }),
    );

async function anomalies(deps: AdminDeps, request: Request, viewer: Viewer): Promise<Anomalies> {
  const from = readFrom(request, deps.clock.now());
  await awaitSettled(deps);
  return await readDatabase(deps, async (db) => {
    const teams = await teamsSeen(db, viewer);
    const found = (await costAnomalies(db, from)).filter(
      ({ team }) => teams === null || (team !== null && teams.includes(team)),
    );
    const latestFirst = found.toSorted((a, b) => (a.day === b.day ? b.usd - a.usd : a.day < b.day ? 1 : -1));
    const data: Anomalies["data"] = [];
    const untilMs = deps.clock.monotonicMs() + EXPLAINING_MAX_MS;
    for (const { kind, name, day, usd, usualUsd } of latestFirst) {
      const known = { kind, name, day, usd: cents(usd), usual_usd: cents(usualUsd) };
      const leftMs = untilMs - deps.clock.monotonicMs();
      const isExplained = data.length < EXPLAINED_MAX && leftMs > 0;
      const why = isExplained ? within(leftMs, whyUnusual(deps.database, known)) : null;
      const unexplained = (error: unknown) => {
        deps.log.warn(errorFields(error), "an unusual day is not explained");
        return null;
      };
      data.push({ ...known, rate_mix_volume: (await why?.catch(unexplained)) ?? null });
    }
    return { from, data };
  });
}

/** Estimates are no exact money: two decimals say what they know. */
const cents = (usd: number): string => usd.toFixed(2);

export const estimateOf = ({ expectedUsd, lowUsd, highUsd }: Forecast) => ({
  expected_usd: cents(expectedUsd),
  low_usd: cents(lowUsd),
  high_usd: cents(highUsd),
});

type Asked = { kind: (typeof FORECAST_SCOPES)[number]; id: string | null; period: PeriodName };

function readScope(request: Request): Asked {
  const given = readParameters(request, ["team", "person", "key", "budget", "period"]);
  const period = PERIODS.find((one) => one === (given.period ?? "month"));
  if (!period) refuse(`period: Expected one of ${PERIODS.join(", ")}.`);
  const named = FORECAST_SCOPES.flatMap((kind) => {
    const id = kind === "organisation" ? undefined : given[kind];
    return id === undefined ? [] : [{ kind, id, period }];
  });
  if (named.length > 1) refuse(`${named[1]?.kind}: Expected one scope.`);
  return named[0] ?? { kind: "organisation", id: null, period };
}

/** A manager of a team who names nothing asks about the team. */
function ownScope(asked: Asked, viewer: Viewer): Asked {
  const scope = recordScope(viewer);
  const isOwn = asked.kind === "organisation" && scope !== null && "team" in scope;
  return isOwn ? { ...asked, kind: "team", id: scope.team } : asked;
}

async function accountOf(db: Reader, { kind, id, period }: Asked) {
  if (kind === "organisation" || id === null) return { account: null, period };
  if (kind === "team") return { account: teamAccount(orNotFound(await teamRows.find(db, id)).name), period };
  if (kind === "person") return { account: personAccounts(id).id, period };
  if (kind === "budget") {
    const budget = await budgetRows.find(db, id);
    if (budget) return { account: budget.account, period: budget.period };
  }
  const key = orNotFound(kind === "key" ? await keyNamed(db, id) : null);
  return { account: key, period };
}

/** Null: all. */
async function teamsSeen(db: Reader, viewer: Viewer): Promise<string[] | null> {
  const scope = recordScope(viewer);
  return scope && "team" in scope ? await teamsWithin(db, scope.team) : null;
}

/** What is not of their team does not exist for a manager. @throws GatewayError not_found */
async function requireSeen(db: Reader, viewer: Viewer, { kind, id }: Asked): Promise<void> {
  const teams = await teamsSeen(db, viewer);
  if (teams !== null && !(kind === "team" && teams.includes(id ?? ""))) throw new GatewayError("not_found");
}

type Facts = { scope: ForecastView["scope"]; period: PeriodName; now: Date };

function viewOf(days: readonly DayCost[], { scope, period, now }: Facts): ForecastView {
  const dates = budgetPeriodAt(period, now);
  const today = now.toISOString().slice(0, 10);
  const made = forecastOf(days, { ...dates, today });
  const spent = days.reduce((sum, { day, usd }) => (day >= dates.from ? sum + usd : sum), 0);
  return {
    scope,
    period,
    ...dates,
    spent_usd: cents(spent),
    forecast: made && estimateOf(made),
  };
}

function readFrom(request: Request, now: Date): string {
  const { days: text = String(DAYS_DEFAULT) } = readParameters(request, ["days"]);
  const days = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (days < 1 || days > DAYS_MAX) refuse(`days: Expected a whole number from 1 to ${DAYS_MAX}.`);
  return new Date(now.getTime() - (days - 1) * DAY_MS).toISOString().slice(0, 10);
}
