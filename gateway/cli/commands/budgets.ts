import type { Command } from "commander";
import { BudgetView } from "#shared/admin/budgets.ts";
import { adminApi, listAll } from "../client/api.ts";
import { tableText } from "../print/table.ts";
import { printAs, URL_OPTION } from "./common.ts";
import { addChanges } from "./resources.ts";

type Options = { url?: string; json?: true; atRisk?: true };

export function addBudgets(program: Command): void {
  const budgets = program
    .command("budgets")
    .description("List budgets with what is used of them, the fullest first, or change them.")
    .option("--at-risk", "only those that are nearly used up, or will be at this pace")
    .option("--json", "print JSON")
    .option(...URL_OPTION)
    .action(async ({ url, json, atRisk }: Options) => {
      const path = `/admin/v1/budgets${atRisk ? "?at_risk=true" : ""}`;
      printAs(json, await listAll(adminApi(url), path, BudgetView), listText);
    });
  addChanges(
    budgets,
    "budgets",
    "\n  tallygate budgets set company on='{kind: organisation}' amount_usd=5000",
  );
}

function listText(all: readonly BudgetView[]): string {
  if (all.length === 0) return "There is no budget: `tallygate budgets set`, or `tallygate apply`.";
  const rows = all.map(({ kind, name, on, mode, used_usd: used, amount_usd: usd, period, to }) => [
    name,
    kind === "budget" ? [on.kind, on.id].filter((part) => part !== null).join(" ") : kind.replace("_", " "),
    mode,
    `$${used}`,
    `$${usd} a ${period}`,
    to,
  ]);
  const columns = ["budget", "counts", "mode", "used", "of", "renews"];
  return tableText(columns, rows, (column) => column === 3);
}
