import { Button, Group, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { PeriodBody, PeriodView } from "#shared/admin/periods.ts";
import { getJson, sendJson } from "../data/api.ts";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { count } from "../parts/format.ts";
import { Money } from "../parts/money.tsx";
import { Panel } from "../parts/page-head.tsx";
import { Fault } from "../parts/states.tsx";
import { momentColumn, numberColumn, textColumn } from "./cells.tsx";

const PATH = "/admin/v1/periods";
const KEY = ["settings", "periods"];

/** Months whose costs change no longer, and closing one. */
export function ClosedMonths() {
  const [month, setMonth] = useState("");
  const queries = useQueryClient();
  const { data } = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => getJson<{ data: PeriodView[] }>(PATH, signal),
    refetchInterval: 30_000,
  });
  const change = useMutation({
    mutationFn: ({ action, ...body }: PeriodBody & { action: "close" | "reopen" }) =>
      sendJson<PeriodView>(`${PATH}/${action}`, { method: "POST", body }),
    onSuccess: () => queries.invalidateQueries({ queryKey: KEY }),
  });
  return (
    <Panel
      title="Closed months"
      sub="Costs of a closed month change only after it is reopened. Calls that are stored late are recorded and counted here."
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate({ action: "close", month });
        }}
      >
        <Group align="end">
          <TextInput
            label="Month"
            placeholder="2026-10"
            required
            value={month}
            onChange={(event) => setMonth(event.currentTarget.value)}
          />
          <Button type="submit" variant="default" loading={change.isPending}>
            Close the month
          </Button>
        </Group>
      </form>
      {change.error && <Fault error={change.error} />}
      {data && data.data.length > 0 && (
        <DataTable
          label="Months that were closed"
          sortName="months.sort"
          columns={[
            ...COLUMNS,
            {
              id: "reopen",
              head: "Reopen",
              cell: ({ month: closed, state }) =>
                state === "closed" && (
                  <Button
                    size="compact-sm"
                    variant="default"
                    aria-label={`Reopen ${closed}`}
                    onClick={() => change.mutate({ action: "reopen", month: closed })}
                  >
                    Reopen
                  </Button>
                ),
            },
          ]}
          rows={data.data}
          rowKey={({ month: name }) => name}
        />
      )}
    </Panel>
  );
}

const COLUMNS: readonly Column<PeriodView>[] = [
  textColumn("month", "Month", { of: ({ month }) => month }),
  textColumn("state", "State", { of: ({ state }) => state }),
  numberColumn("records", "Calls at closing", {
    of: ({ records }) => count(records),
    by: ({ records }) => records,
  }),
  { id: "cost", head: "Cost at closing", isNumber: true, cell: ({ cost_usd: usd }) => <Money value={usd} /> },
  numberColumn("late", "Late calls", { of: (it) => count(it.late_records), by: (it) => it.late_records }),
  { id: "late-cost", head: "Their cost", isNumber: true, cell: (it) => <Money value={it.late_cost_usd} /> },
  textColumn("actor", "By", { of: ({ actor }) => actor }),
  momentColumn("changed", "Changed", { of: (it) => it.changed_at, none: "" }),
];
