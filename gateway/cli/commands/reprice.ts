import type { Command } from "commander";
import { RepriceJobView, RepriceView } from "#shared/admin/prices.ts";
import { fits } from "#shared/schema.ts";
import { adminApi, expectShape } from "../client/api.ts";
import { print, printNote, URL_OPTION } from "./common.ts";

type Options = { from?: string; to?: string; job?: string; dryRun?: boolean; url?: string };

const PATH = "/admin/v1/prices/reprice";
const POLL_MS = 1000;

export const addReprice = (program: Command) =>
  program
    .command("reprice")
    .description("Price the records that have no price yet, by the prices now known for their day.")
    .option("--from <date>", "calls since then")
    .option("--to <date>", "calls until then; a date includes that day")
    .option("--dry-run", "show the sums and change nothing")
    .option("--job <id>", "follow a job that runs already")
    .option(...URL_OPTION)
    .addHelpText("after", "\nMany records are a job of the gateway: it goes on if this command is stopped.")
    .action(reprice);

async function reprice({ from, to, job, dryRun = false, url }: Options): Promise<void> {
  const api = adminApi(url);
  if (job !== undefined) return follow(api, job);
  if (from === undefined || to === undefined) throw new Error("Give --from and --to, or --job.");
  const answer = await api.call("POST", PATH, { from, to, dry_run: dryRun });
  if (fits(RepriceView, answer)) return printSums(answer);
  const { id } = expectShape(RepriceJobView, answer, "Repricing");
  printNote(`job ${id}; to follow it again: tallygate reprice --job ${id}`);
  await follow(api, id);
}

async function follow(api: ReturnType<typeof adminApi>, id: string): Promise<void> {
  for (let seen = -1; ; await Bun.sleep(POLL_MS)) {
    const job = expectShape(RepriceJobView, await api.call("GET", `${PATH}/${id}`), "The job");
    const { checked_records: checked, unpriced_records: all, repriced_records: priced } = job;
    if (checked !== seen) printNote(`${checked} of ${all} records checked, ${priced} priced`);
    seen = checked;
    if (job.state === "done") return printSums(job);
  }
}

type Sums = Pick<
  RepriceView,
  "dry_run" | "repriced_records" | "unpriced_records" | "old_cost_usd" | "new_cost_usd"
>;

function printSums(sums: Sums): void {
  const verb = sums.dry_run ? "would get" : "got";
  print(`${sums.repriced_records} of ${sums.unpriced_records} unpriced records ${verb} a price.`);
  print(
    `Cost of the window: ${sums.old_cost_usd} USD before, ${sums.new_cost_usd} USD ${sums.dry_run ? "then" : "now"}.`,
  );
}
