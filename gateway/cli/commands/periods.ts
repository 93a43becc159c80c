import type { Command } from "commander";
import { PeriodList, PeriodView } from "#shared/admin/periods.ts";
import { counted } from "#shared/plural.ts";
import { adminApi, expectShape } from "../client/api.ts";
import { countText } from "../print/progress.ts";
import { tableText } from "../print/table.ts";
import { print, printAs, URL_OPTION } from "./common.ts";

const PATH = "/admin/v1/periods";

export function addPeriods(program: Command): Command {
  const periods = program
    .command("periods")
    .description("Close months, so that their costs no longer change.");
  for (const [action, description] of [
    ["close", "Close a month: restating and repricing leave it unchanged."],
    ["reopen", "Open a closed month again."],
  ] as const) {
    periods
      .command(action)
      .description(description)
      .argument("<month>", "a month (UTC), such as 2026-10")
      .option(...URL_OPTION)
      .action(async (month: string, { url }: { url?: string }) => {
        const answer = await adminApi(url).call("POST", `${PATH}/${action}`, { month });
        print(lineOf(expectShape(PeriodView, answer, "The month")));
      });
  }
  periods
    .command("list")
    .description("List the months that were closed, with what came late.")
    .option("--json", "print as JSON")
    .option(...URL_OPTION)
    .action(async ({ url, json }: { url?: string; json?: boolean }) => {
      const { data } = expectShape(PeriodList, await adminApi(url).call("GET", PATH), "The months");
      printAs(json, { data }, listText);
    });
  return periods;
}

const listText = ({ data }: { data: readonly PeriodView[] }): string =>
  data.length === 0
    ? "No month was closed yet."
    : tableText(HEADS, data.map(rowOf), (column) => column > 1 && column < 6);
const HEADS = ["Month", "State", "Records", "USD at closing", "Late records", "Late USD", "By"];
const rowOf = (it: PeriodView): string[] => [
  ...[it.month, it.state, countText(it.records), it.cost_usd],
  ...[countText(it.late_records), it.late_cost_usd, it.actor],
];

const lineOf = ({ month, state, records, cost_usd: usd }: PeriodView): string =>
  state === "closed"
    ? `${month} is closed, with ${counted(records, "record")} and ${usd} USD.`
    : `${month} is open again.`;
