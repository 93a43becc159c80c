import {
  StatementLine as Line,
  MonthStatement,
  STATEMENT_BY,
  type StatementLine,
} from "#shared/admin/statements.ts";
import { keysOf, picked } from "#shared/keys-of.ts";
import { GatewayError, refuse } from "../errors.ts";
import { requireKept } from "../export/focus-rows.ts";
import { csvLine, textCell } from "../reports/csv.ts";
import { findPeriod, monthSpan } from "../stores/periods.ts";
import { chargesOf, keptStatements } from "../stores/statements.ts";
import { type AdminDeps, adminPart, awaitSettled, readDatabase } from "./deps.ts";
import { adminRoute } from "./documented.ts";
import { readParameters, requireKnown } from "./list.ts";

const docs = adminRoute("statements");
const MONTH = /^20\d\d-(0[1-9]|1[0-2])$/;

/** `/admin/v1/statements`: a month's cost by team or cost centre. A closed month keeps its own. */
export const adminStatements = (deps: AdminDeps) =>
  adminPart(deps, "statements").get(
    "",
    async ({ request }) => {
      const { format = "json", ...asked } = readParameters(request, ["month", "by", "version", "format"]);
      requireKnown({ format, by: asked.by }, { format: ["json", "csv"], by: STATEMENT_BY });
      const statement = await readStatement(deps, asked);
      return format === "csv" ? csvOf(statement) : statement;
    },
    docs({
      summary: "Read a month's statement by team or cost centre",
      description:
        "Of an open month it is made from the records as they are now. Closing a month keeps its statements, each closing a version; a closed month answers the latest.",
      query: {
        month: "A month (UTC), such as `2026-10`.",
        by: "`team` (default) or `cost_center`.",
        version: "That of an earlier closing.",
        format: "`json` (default) or `csv`.",
      },
      answers: { 200: MonthStatement },
    }),
  );

type Asked = Partial<Record<"month" | "by" | "version", string>>;

async function readStatement(deps: AdminDeps, { month = "", by: name, version }: Asked) {
  if (!MONTH.test(month)) refuse("month: Expected a month such as 2026-10.");
  const by = STATEMENT_BY.find((known) => known === name) ?? STATEMENT_BY[0];
  await awaitSettled(deps);
  const kept = await readDatabase(deps, (db) => keptStatements(db, month, by));
  const period = await readDatabase(deps, (db) => findPeriod(db, month));
  const latest = period?.closedAt ? kept.at(-1) : undefined;
  const shown = version === undefined ? latest : kept.find((it) => String(it.version) === version);
  if (version !== undefined && !shown) throw new GatewayError("not_found");
  if (!shown) {
    const { from, to } = monthSpan(month);
    await readDatabase(deps, () =>
      requireKept(deps.database, { fromMs: Date.parse(from), toMs: Date.parse(to) }, "month"),
    );
  }
  const { lines, total } = shown?.content ?? (await readDatabase(deps, (db) => chargesOf(db, month, by)));
  return {
    month,
    by,
    version: shown?.version ?? null,
    closed_at: shown?.closedAt ?? null,
    total: inOrder(total),
    lines: lines.map((line) => ({ ...inOrder(line), records: recordsOf(month, by, line) })),
    versions: kept.map(({ version: number, closedAt, actor }) => ({
      version: number,
      closed_at: closedAt,
      actor,
    })),
  };
}

/** What a closed month keeps has no order of its own. */
const inOrder = (line: StatementLine): StatementLine => picked(line, keysOf(Line.properties));

const FILTERS = { team: "direct_team", cost_center: "cost_center" } as const;

function recordsOf(month: string, by: keyof typeof FILTERS, { name }: StatementLine): string {
  const last = new Date(Date.parse(monthSpan(month).to) - 1).toISOString().slice(0, 10);
  return new URLSearchParams([
    [FILTERS[by], name],
    ["from", `${month}-01`],
    ["to", last],
  ]).toString();
}

function csvOf({ month, by, lines, total, version }: MonthStatement): Response {
  const names = keysOf(total).filter((name) => name !== "name");
  const cells = (line: StatementLine) => names.map((name) => String(line[name] ?? ""));
  const text = [
    [by, ...names],
    ...lines.map((line) => [textCell(line.name), ...cells(line)]),
    ["total", ...cells(total)],
  ];
  const file = `statement-${month}-by-${by}${version === null ? "" : `-version-${version}`}.csv`;
  return new Response(text.map(csvLine).join(""), {
    headers: {
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": `attachment; filename="${file}"`,
    },
  });
}
