import type { Command } from "commander";
import {
  RECONCILIATION_PARTS,
  type ReconciledAccount,
  Reconciliation,
} from "#shared/admin/reconciliation.ts";
import { counted } from "#shared/plural.ts";
import { adminApi, expectShape } from "../client/api.ts";
import { printAs, URL_OPTION } from "./common.ts";

type Options = Partial<Record<"from" | "to" | "vendor" | "account" | "url", string>> & { json?: true };

export const addReconcile = (program: Command) =>
  program
    .command("reconcile")
    .description("Compare vendors' bills with what was metered, and say why they differ.")
    .option("--from <day>", "first day (default: the first of the month)")
    .option("--to <day>", "last day (default: today)")
    .option("--vendor <vendor>", "one vendor, such as anthropic")
    .option("--account <name>", "one vendor account")
    .option("--json", "print the result as JSON, by model and what is counted, too")
    .option(...URL_OPTION)
    .action((options: Options) => reconcile(options));

async function reconcile({ url, json, ...given }: Options): Promise<void> {
  const answer = await adminApi(url).call("GET", `/admin/v1/reconciliation?${new URLSearchParams(given)}`);
  printAs(json, expectShape(Reconciliation, answer, "The reconciliation"), ({ accounts }) =>
    accounts.length === 0
      ? "There is no vendor account. See `tallygate bills --help`."
      : accounts.map(accountText).join("\n\n"),
  );
}

/** A waterfall from metered to billed. */
function accountText(it: ReconciledAccount): string {
  const missing = it.days_without_bill.length;
  const without = missing > 0 ? `, ${counted(missing, "day")} without a bill` : "";
  const rows = [
    ["metered", it.metered_usd],
    ...RECONCILIATION_PARTS.filter((part) => it.parts[part] !== "0").map((part) => [
      part.replaceAll("_", " "),
      it.parts[part],
    ]),
    ["billed", it.billed_usd],
    ...Object.entries(it.unconverted).map(([currency, amount]) => [
      `billed, without a rate`,
      `${amount} ${currency}`,
    ]),
  ];
  const lines = rows.map(([name = "", usd = ""]) => `  ${name.padEnd(24)}${usd.padStart(32)}`);
  return [`${it.account} (${it.vendor}), ${counted(it.days, "day")}${without}, in USD`, ...lines].join("\n");
}
