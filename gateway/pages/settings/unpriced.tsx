import { useQuery } from "@tanstack/react-query";
import type { UnpricedModels } from "#shared/admin/prices.ts";
import { getJson } from "../data/api.ts";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { count } from "../parts/format.ts";
import { Panel } from "../parts/page-head.tsx";
import { textColumn } from "./cells.tsx";

type Unpriced = UnpricedModels["data"][number];

const COLUMNS: readonly Column<Unpriced>[] = [
  textColumn("model", "Model", { of: ({ model }) => model, none: "unknown" }),
  textColumn("provider", "Provider", { of: ({ provider }) => provider, none: "unknown" }),
  textColumn("tier", "Tier", { of: ({ tier }) => tier, none: "standard" }),
  {
    id: "requests",
    head: "Calls without a cost",
    isNumber: true,
    sort: ({ requests }) => requests,
    cell: ({ requests }) => count(requests),
  },
  textColumn("reason", "Why", { of: ({ reason }) => reason }),
];

/** Models of the last seven days whose calls have no cost. Nothing is shown if there are none. */
export function Unpriced() {
  const { data } = useQuery({
    queryKey: ["settings", "unpriced"],
    queryFn: ({ signal }) => getJson<UnpricedModels>("/admin/v1/prices/unpriced", signal),
    refetchInterval: 30_000,
  });
  if (!data || data.data.length === 0) return null;
  return (
    <Panel
      title="Without a price"
      sub="Calls of the last seven days whose cost is unknown. Reports that include them show a lower bound. Add a price, then price the calls below."
    >
      <DataTable
        label="Models without a price"
        columns={COLUMNS}
        rows={data.data}
        rowKey={({ provider, model, tier }) => [provider, model, tier].join("\n")}
      />
    </Panel>
  );
}
