import { describe, expect, test } from "bun:test";
import type { Spec } from "#shared/report.ts";
import { atEnd } from "#test/support/at-end.ts";
import { openRow, settledRow } from "#test/support/recorder-kit.ts";
import { reportEngines } from "#test/support/report-engines.ts";
import { ledger } from "../rollups/ledger.ts";

const NOW = new Date("2026-11-21T12:00:00Z");
const call = (startedAt: string, owner: string, costUsd: string | null) =>
  settledRow(openRow({ startedAt, owner }), {
    costUsd,
    tokenCostUsd: costUsd,
    unpriced: costUsd === null,
    inputTokens: 1000,
    outputTokens: 100,
  });

const SPEC: Spec = {
  source: "requests",
  dimensions: ["subject"],
  measures: ["cost_decomposition", "users", "unpriced_requests", "cost_per_user"],
  filters: {},
  range: { from: "2026-11-11", to: "2026-11-20" },
  compare: "previous_period",
  view: "waterfall",
};

describe("a decomposition is of calls of known cost", () => {
  test("who made calls of unknown cost alone is in no part, read from records and from sums", async () => {
    const it = await ledger();
    atEnd(it.close);
    await it.write([
      call("2026-11-05T10:00:00Z", "ann", "0.01"),
      call("2026-11-15T10:00:00Z", "ann", "0.01"),
      call("2026-11-15T11:00:00Z", "eve", null),
      // Ann is one payer, whatever else she does.
      call("2026-11-15T12:00:00Z", "ann", null),
    ]);
    await it.rollups.catchUp(NOW);
    const engines = await reportEngines(it.database.url);
    await engines.wrote("default");
    for (const runner of [it.single, it.rolled, engines.runner()]) {
      const { decomposition, total } = await runner.run(SPEC, NOW);
      expect(total.current).toMatchObject({ users: 2, unpriced_requests: 2, cost_per_user: 0.005 });
      expect(decomposition).toEqual({
        previousUsd: 0.01,
        currentUsd: 0.01,
        deltaUsd: 0,
        parts: {
          users: 0,
          requestsPerUser: 0,
          inputTokensPerRequest: 0,
          outputTokensPerRequest: 0,
          pricePerToken: 0,
        },
        unmodelledUsd: 0,
        floor: true,
      });
    }
  });
});
