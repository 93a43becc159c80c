import { Button, Select, TextInput } from "@mantine/core";
import { keepPreviousData, useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { PeriodView } from "#shared/admin/periods.ts";
import type { MonthStatement } from "#shared/admin/statements.ts";
import { dimensionWord } from "#shared/report-words.ts";
import { useAddress } from "../data/address.ts";
import { queryOf, sendJson } from "../data/api.ts";
import { STATEMENT_BY } from "../data/parameters.ts";
import { oneNameOf, oneText } from "../data/search.ts";
import { useJson } from "../data/use-json.ts";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { longTimeGroup } from "../parts/dates.ts";
import { count, decimalsOf } from "../parts/format.ts";
import { Money } from "../parts/money.tsx";
import { PageHead, Panel } from "../parts/page-head.tsx";
import { Answered, Fault } from "../parts/states.tsx";
import { ExportDestination } from "./export-destination.tsx";

const PATH = "/admin/v1/statements";
type Line = MonthStatement["lines"][number];

const readSearch = (raw: Record<string, unknown>) => ({
  month: oneText(raw["month"]),
  by: oneNameOf(STATEMENT_BY, raw["by"]),
  version: oneText(raw["version"]),
});

type Counts = (line: MonthStatement["total"]) => number;
const countsIn =
  (total: MonthStatement["total"]) =>
  (id: string, head: string, of: Counts): Column<Line> => ({
    ...{ id, head, isNumber: true, sort: of, foot: count(of(total)) },
    cell: (line) => count(of(line)),
  });

const MONEY = { cost_usd: "Cost", list_cost_usd: "List cost", savings_usd: "Saved" } as const;

const columnsOf = (it: MonthStatement): Column<Line>[] => {
  const { by, total } = it;
  const counts = countsIn(total);
  return [
    {
      id: "name",
      head: dimensionWord(by),
      sort: ({ name }) => name,
      cell: ({ name, records }) => (
        <Link to="/requests" search={Object.fromEntries(new URLSearchParams(records))} className="row-link">
          {name}
        </Link>
      ),
      foot: "Total",
    },
    ...(["cost_usd", "list_cost_usd", "savings_usd"] as const).map((id) => {
      const decimals = decimalsOf([total, ...it.lines].map((line) => line[id] ?? 0));
      const money = (line: Line | MonthStatement["total"]) => (
        <Money value={line[id]} floor={id === "cost_usd" && line.floor} whole={decimals} />
      );
      return {
        ...{ id, head: MONEY[id], isNumber: true, cell: money, foot: money(total) },
        sort: (line: Line) => (line[id] === null ? null : Number(line[id])),
      };
    }),
    counts("requests", "Requests", ({ requests }) => requests),
    counts("people", "People", ({ people }) => people),
    counts("tokens", "Tokens", (line) => Number(line.input_tokens) + Number(line.output_tokens)),
  ];
};

/** A month's cost by team or cost centre, to be printed or handed on, and the closing of that month. */
export function StatementsPage() {
  const [{ month = new Date().toISOString().slice(0, 7), by = "team", version }, change] =
    useAddress(readSearch);
  const query = { month, by, ...(version !== undefined && { version }) };
  const statement = useJson<MonthStatement>(["statement", query], `${PATH}${queryOf(query)}`, {
    placeholderData: keepPreviousData,
  });
  const csv = `${PATH}${queryOf({ ...query, format: "csv" })}`;
  return (
    <>
      <PageHead title="Statements">
        <TextInput
          {...{ type: "month", size: "xs", value: month, "aria-label": "Month" }}
          onChange={({ target: { value } }) => change({ month: value || undefined, version: undefined })}
        />
        <Select
          {...{ size: "xs", allowDeselect: false, value: by, "aria-label": "By" }}
          data={STATEMENT_BY.map((name) => ({
            value: name,
            label: `By ${dimensionWord(name).toLowerCase()}`,
          }))}
          onChange={(name) => change({ by: oneNameOf(STATEMENT_BY, name), version: undefined })}
        />
        <Button component="a" href={csv} variant="default" size="xs" download>
          CSV
        </Button>
        <Button variant="default" size="xs" onClick={() => window.print()}>
          Print
        </Button>
      </PageHead>
      <Answered query={statement} height={480}>
        {(it) => (
          <Panel
            title={`${longTimeGroup("month", it.month)}, by ${dimensionWord(it.by).toLowerCase()}`}
            sub={stateOf(it)}
          >
            <DataTable
              label="Statement"
              rows={it.lines}
              columns={columnsOf(it)}
              rowKey={({ name }) => name}
              rowHeight={35}
            />
            <Closing it={it} />
            {it.versions.length > 1 && (
              <Select
                {...{ label: "Version", size: "xs", mt: "md", w: 240, className: "no-print" }}
                data={it.versions.map((one) => ({
                  value: String(one.version),
                  label: `${one.version}, closed ${one.closed_at.slice(0, 16).replace("T", " ")} UTC`,
                }))}
                value={it.version === null ? null : String(it.version)}
                onChange={(chosen) => change({ version: chosen ?? undefined })}
              />
            )}
          </Panel>
        )}
      </Answered>
      <div className="no-print">
        <ExportDestination />
      </div>
    </>
  );
}

const stateOf = ({ version, closed_at }: MonthStatement): string =>
  closed_at === null
    ? "The month is open: these are its records as they are now."
    : `As it was when the month was closed on ${closed_at.slice(0, 16).replace("T", " ")} UTC (version ${version}).`;

/** Closes the month of the latest statement, or opens it again. */
function Closing({ it }: { it: MonthStatement }) {
  const client = useQueryClient();
  const isOpen = it.version === null;
  const path = `/admin/v1/periods/${isOpen ? "close" : "reopen"}`;
  const changing = useMutation({
    mutationFn: () => sendJson<PeriodView>(path, { method: "POST", body: { month: it.month } }),
    onSettled: () => client.invalidateQueries(),
  });
  return (
    <p className="no-print">
      <Button size="xs" variant="default" loading={changing.isPending} onClick={() => changing.mutate()}>
        {isOpen ? "Close the month" : "Reopen the month"}
      </Button>
      {changing.error && <Fault error={changing.error} />}
    </p>
  );
}
