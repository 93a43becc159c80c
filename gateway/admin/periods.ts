import { PeriodBody as Body, type PeriodBody, PeriodList, PeriodView } from "#shared/admin/periods.ts";
import { formatDecimal, parseDecimal } from "#shared/decimal.ts";
import { viewAs } from "#shared/view-as.ts";
import { GatewayError } from "../errors.ts";
import { readJson } from "../plugins/body.ts";
import type { Origin } from "../stores/audit.ts";
import { audited } from "../stores/change.ts";
import {
  closePeriod,
  listPeriods,
  lockPeriod,
  monthSpan,
  type PeriodRow,
  reopenPeriod,
} from "../stores/periods.ts";
import { keepStatements } from "../stores/statements.ts";
import { type AdminDeps, adminPart, awaitSettled, readDatabase } from "./deps.ts";
import { adminRoute } from "./documented.ts";
import { PAGE_OF_ALL_QUERY, pageOfAll, readParameters } from "./list.ts";

const docs = adminRoute("prices");

/** `/admin/v1/periods`: months whose costs are closed. */
export const adminPeriods = (deps: AdminDeps) =>
  adminPart(deps, "periods")
    .get(
      "",
      async ({ request }) => {
        const page = readParameters(request, ["limit", "after"]);
        return pageOfAll((await readDatabase(deps, listPeriods)).map(viewOf), page, ({ month }) => month);
      },
      docs({
        summary: "List months that were closed, the latest first",
        description: "With what their records cost when they were closed, and what came late.",
        query: PAGE_OF_ALL_QUERY,
        answers: { 200: PeriodList },
      }),
    )
    .post(
      "/close",
      async ({ request, origin }) => close(deps, origin, await readJson(deps, request, Body)),
      docs({
        summary: "Close a month",
        description:
          "Its statements are kept as they are then, unless some of its records are dropped already. Repricing and restatement leave its records as they are. Calls that are stored late are recorded and counted in the period. 422 if the month has not begun or is closed.",
        body: Body,
        answers: { 200: PeriodView },
      }),
    )
    .post(
      "/reopen",
      async ({ request, origin }) => reopen(deps, origin, await readJson(deps, request, Body)),
      docs({
        summary: "Reopen a month",
        description: "422 if it is not closed.",
        body: Body,
        answers: { 200: PeriodView },
      }),
    );

async function close(deps: AdminDeps, origin: Origin, { month }: PeriodBody): Promise<PeriodView> {
  if (Date.parse(monthSpan(month).from) > origin.at.getTime()) {
    throw new GatewayError("conflict", `/month: ${month} has not begun.`);
  }
  await awaitSettled(deps);
  return audited(deps.database, origin, async (tx, audit) => {
    const was = await lockPeriod(tx, month);
    if (was?.closedAt) throw new GatewayError("conflict", `/month: ${month} is closed.`);
    const after = viewOf(await closePeriod(tx, month, origin));
    await keepStatements(tx, month, origin);
    await audit({ action: "period.closed", subject: month, ...(was && { before: viewOf(was) }), after });
    return after;
  });
}

const reopen = (deps: AdminDeps, origin: Origin, { month }: PeriodBody): Promise<PeriodView> =>
  audited(deps.database, origin, async (tx, audit) => {
    const before = await lockPeriod(tx, month);
    if (!before?.closedAt) throw new GatewayError("conflict", `/month: ${month} is not closed.`);
    const after = viewOf(await reopenPeriod(tx, month, origin));
    await audit({ action: "period.reopened", subject: month, before: viewOf(before), after });
    return after;
  });

const viewOf = (row: PeriodRow): PeriodView =>
  viewAs(PeriodView, {
    ...row,
    state: row.closedAt === null ? "open" : "closed",
    costUsd: formatDecimal(parseDecimal(row.costUsd)),
    lateCostUsd: formatDecimal(parseDecimal(row.lateCostUsd)),
  });
