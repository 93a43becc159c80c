import { Button, Select, TextInput } from "@mantine/core";
import { keepPreviousData, useQueryClient } from "@tanstack/react-query";
import type { PeriodView } from "#shared/admin/periods.ts";
import type { MonthStatement } from "#shared/admin/statements.ts";
import { dimensionWord } from "#shared/report-words.ts";
import { useAddress } from "../data/address.ts";
import { postJson, queryOf, useJson } from "../data/api.ts";
import { STATEMENT_BY } from "../data/parameters.ts";
import { oneNameOf, oneText } from "../data/search.ts";
import { Act } from "../parts/act.tsx";
import { type Column, type Columns, money, number, opens } from "../parts/columns.tsx";
import { DataTable } from "../parts/data-table.tsx";
import { calendarDay, longTimeGroup } from "../parts/dates.ts";
import { count, decimalsOf } from "../parts/format.ts";
import { Answered, PageHead, Panel } from "../parts/page.tsx";
import { Money } from "../parts/values.tsx";
import { ExportDestination } from "./export-destination.tsx";

const PATH = "/admin/v1/statements";
type Line = MonthStatement["lines"][number];

const readSearch = (raw: Record<string, unknown>) => ({
  month: oneText(raw["month"]),
  by: oneNameOf(STATEMENT_BY, raw["by"]),
  version: oneText(raw["version"]),
});

/** A line, or all of them together. */
type Figures = Line | MonthStatement["total"];

const columnsOf = ({ by, total, lines }: MonthStatement): Columns<Line> => {
  const counts = (head: string, of: (figures: Figures) => number): Column<Line> => ({
    ...number(head, of),
    foot: count(of(total)),
  });
  const amounts = (head: string, id: "cost_usd" | "list_cost_usd" | "savings_usd"): Column<Line> => {
    const whole = decimalsOf([total, ...lines].map((line) => line[id] ?? 0));
    const facts = ({ floor }: Figures) => ({ floor: id === "cost_usd" && floor, whole });
    return { ...money(head, (line) => line[id], facts), foot: <Money value={total[id]} {...facts(total)} /> };
  };
  const linked = opens<Line>(
    dimensionWord(by),
    ({ name }) => name,
    ({ records }) => ({ to: "/requests", search: Object.fromEntries(new URLSearchParams(records)) }),
  );
  return {
    name: { ...linked, foot: "Total" },
    cost_usd: amounts("Cost", "cost_usd"),
    list_cost_usd: amounts("List cost", "list_cost_usd"),
    savings_usd: amounts("Saved", "savings_usd"),
    requests: counts("Requests", ({ requests }) => requests),
    people: counts("People", ({ people }) => people),
    tokens: counts("Tokens", (line) => Number(line.input_tokens) + Number(line.output_tokens)),
  };
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
        <Button component="a" href={csv} size="xs" download>
          CSV
        </Button>
        <Button size="xs" onClick={() => window.print()}>
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
              {...{ label: "Statement", rows: it.lines, columns: columnsOf(it), rowKey: ["name"] }}
              none={<p className="mute">There are no calls in this month.</p>}
            />
            <Closing it={it} />
            {it.versions.length > 1 && (
              <Select
                {...{ label: "Version", size: "xs", mt: "md", w: 240, className: "no-print" }}
                data={it.versions.map((one) => ({
                  value: String(one.version),
                  label: `${one.version}, closed ${calendarDay(one.closed_at.slice(0, 10))}`,
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
    : `As it was when the month was closed on ${calendarDay(closed_at.slice(0, 10))} (version ${version}).`;

function Closing({ it: { version, month } }: { it: MonthStatement }) {
  const client = useQueryClient();
  const change = (verb: "close" | "reopen") =>
    postJson<PeriodView>(`/admin/v1/periods/${verb}`, { month }).finally(() => client.invalidateQueries());
  return (
    <div className="no-print">
      <Act size="xs" act={() => change(version === null ? "close" : "reopen")}>
        {version === null ? "Close the month" : "Reopen the month"}
      </Act>
    </div>
  );
}
