import { SPEND_BY, Spend } from "#shared/admin/spend.ts";
import { refuse } from "../errors.ts";
import { listSpend } from "../stores/spend.ts";
import { type AdminDeps, adminPart, awaitSettled, readDatabase } from "./deps.ts";
import { adminRoute } from "./documented.ts";
import { readParameters } from "./list.ts";

const DAYS_MS = 30 * 86_400_000;

/** `/admin/v1/spend`: the latest call and the cost of the month of each key, person, team, route or provider. */
export const adminSpend = (deps: AdminDeps) =>
  adminPart(deps, "spend").get(
    "",
    async ({ request }): Promise<Spend> => {
      const { by: given } = readParameters(request, ["by"]);
      const by = SPEND_BY.find((name) => name === given);
      if (!by) refuse(`by: Expected one of ${SPEND_BY.join(", ")}.`);
      await awaitSettled(deps);
      const now = deps.clock.now();
      const month = `${now.toISOString().slice(0, 7)}-01T00:00:00.000Z`;
      const before = `${new Date(now.getTime() - DAYS_MS).toISOString().slice(0, 10)}T00:00:00.000Z`;
      const window = { month_from: month, from: before < month ? before : month };
      return { ...window, data: await readDatabase(deps, (db) => listSpend(db, by, window)) };
    },
    adminRoute("teams")({
      summary: "List the latest call and the cost of the month, by key, person, team, route or provider",
      description: "Those with a call in the last 30 days, or in the current month; the latest first.",
      query: { by: `Required: one of ${SPEND_BY.join(", ")}.` },
      answers: { 200: Spend },
    }),
  );
