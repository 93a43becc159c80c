import { SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { MeasureName, RangeName, Result, Unit } from "#shared/report.ts";
import { useAddress } from "../data/address.ts";
import { getJson } from "../data/api.ts";
import { oneNameOf } from "../data/search.ts";
import { Panel } from "../parts/page-head.tsx";
import { ReportTable } from "../parts/report-table.tsx";
import { Answered, Empty } from "../parts/states.tsx";

const GROUPS = ["day", "model", "client", "session"] as const;
const RANGES = ["mtd", "7d", "30d", "last_month"] as const satisfies readonly RangeName[];
const RANGE_WORDS = {
  mtd: "This month",
  "7d": "7 days",
  "30d": "30 days",
  last_month: "Last month",
} as const;
const UNITS: Readonly<Partial<Record<MeasureName, Unit>>> = { cost_usd: "USD" };

const readSearch = (raw: Record<string, unknown>) => ({
  by: oneNameOf(GROUPS, raw["by"]) ?? "day",
  range: oneNameOf(RANGES, raw["range"]) ?? "mtd",
});

/** Own calls by day, model, client or session. */
export function OwnUsage() {
  const [{ by, range }, change] = useAddress(readSearch);
  const query = useQuery({
    queryKey: ["own", "usage", by, range],
    queryFn: ({ signal }) => getJson<Result>(`/v1/me/usage?by=${by}&range=${range}`, signal),
  });
  return (
    <Panel title="My calls">
      <div className="controls">
        <SegmentedControl
          aria-label="Group by"
          value={by}
          onChange={(value) => change({ by: oneNameOf(GROUPS, value) })}
          data={[...GROUPS]}
        />
        <SegmentedControl
          aria-label="Range"
          value={range}
          onChange={(value) => change({ range: oneNameOf(RANGES, value) })}
          data={RANGES.map((value) => ({ value, label: RANGE_WORDS[value] }))}
        />
      </div>
      <Answered query={query}>
        {(result) =>
          result.rows.length === 0 ? (
            <Empty title="No calls in this range">Connect an agent below, or choose a longer range.</Empty>
          ) : (
            <ReportTable result={result} title="My calls" units={UNITS} />
          )
        }
      </Answered>
    </Panel>
  );
}
