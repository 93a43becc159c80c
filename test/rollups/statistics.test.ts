import { expect, test } from "bun:test";
import { openRow, settledRow } from "#test/support/recorder-kit.ts";
import { ledger } from "./ledger.ts";

const NOW = new Date("2026-11-21T12:34:56Z");
const PEOPLE = 100;
const ROUTES = 3;
/** The server takes groups for a tenth of the rows at most. */
const SESSIONS = 15;

test("the server takes groups of persons by route for about as many as there are", async () => {
  const it = await ledger();
  const calls = Array.from({ length: PEOPLE * ROUTES * SESSIONS }, (_, i) => {
    const person = i % PEOPLE;
    const startedAt = `2026-11-${10 + (person % 9)}T08:00:00.000Z`;
    const [owner, userLabel] = [`owner-${person}`, `label-${person}`];
    const session = `s-${person}-${Math.floor(i / PEOPLE / ROUTES)}`;
    const route = `route-${Math.floor(i / PEOPLE) % ROUTES}`;
    return settledRow(openRow({ startedAt, owner, userLabel, session }), { route });
  });
  await it.write(calls);
  await it.rollups.catchUp(NOW);
  for (const table of ["rollup_hours", "rollup_sessions"]) {
    await it.sql.unsafe(`analyze ${table}`);
    const by = table === "rollup_hours" ? ", route" : "";
    const [row] = await it.sql.unsafe(
      `explain (format json) select owner, user_label${by} from ${table} group by owner, user_label${by}`,
    );
    const groups = row?.["QUERY PLAN"][0].Plan["Plan Rows"];
    const there = PEOPLE * (by ? ROUTES : 1);
    expect(groups).toBeGreaterThan(there / 1.2);
    expect(groups).toBeLessThan(there * 1.2);
  }
  await it.close();
});
