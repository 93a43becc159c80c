import { type Command, Option } from "commander";
import { pageOf } from "#shared/admin/fields.ts";
import { RepriceJobView, RepriceView } from "#shared/admin/prices.ts";
import { fits } from "#shared/schema.ts";
import { type Api, ApiError, adminApi, expectShape } from "../client/api.ts";
import { countText, type ProgressState, progressDisplay } from "../print/progress.ts";
import { parseInstant, print, printJson, printNote, URL_OPTION } from "./common.ts";

type Options = {
  from?: string;
  to?: string;
  /** True: the newest one. */
  job?: string | true;
  cancel?: string;
  dryRun?: boolean;
  json?: boolean;
  url?: string;
};

const PATH = "/admin/v1/prices/reprice";

export const addReprice = (program: Command) =>
  program
    .command("reprice")
    .description("Price records without a price, using the prices now known for their day.")
    .option("--from <date>", "calls from this time on", parseInstant)
    .option("--to <date>", "calls before this time; a date includes that day", parseInstant)
    .option("--dry-run", "print the sums, and change nothing")
    .addOption(new Option("--job [id]", "follow a running job (default: the newest)").conflicts(WINDOW))
    .addOption(
      new Option("--cancel <id>", "cancel a job; what is priced stays priced").conflicts([...WINDOW, "job"]),
    )
    .option("--json", "print the result as JSON, and no progress")
    .option(...URL_OPTION)
    .addHelpText("after", HELP)
    .action((options: Options, command: Command) => {
      const { from, to, job, cancel } = options;
      if (job === undefined && cancel === undefined && (from === undefined || to === undefined)) {
        command.error(
          "error: give --from and --to, such as --from 2026-01-01 --to 2026-01-31, or --job or --cancel",
        );
      }
      return reprice(options);
    });

const WINDOW = ["from", "to", "dryRun"];

const CANCELLED = "The job was cancelled; what it had priced stays priced.";

const HELP = `
Large repricings run as a background job on the gateway. The job continues if this command stops or the gateway restarts.`;

async function reprice({ from, to, job, cancel, dryRun = false, json = false, url }: Options): Promise<void> {
  const api = adminApi(url);
  if (cancel !== undefined) return printResult(await cancelled(api, cancel), json);
  if (job !== undefined)
    return printResult(await followed(api, job === true ? await newest(api) : job, json), json);
  const answer = await api.call("POST", PATH, { from, to, dry_run: dryRun });
  if (fits(RepriceView, answer)) return printResult(answer, json);
  const { id } = expectShape(RepriceJobView, answer, "Repricing");
  if (!json) printNote(`job ${id}; follow it again with --job ${id}, cancel it with --cancel ${id}`);
  printResult(await followed(api, id, json), json);
}

const at = (id: string): string => `${PATH}/${encodeURIComponent(id)}`;

const cancelled = async (api: Api, id: string): Promise<RepriceJobView> =>
  expectShape(
    RepriceJobView,
    await api.call("POST", `${at(id)}/cancel`).catch((error: unknown) => {
      throw isMissing(error)
        ? new Error(`No repricing job has the id ${id}. --job follows the newest.`)
        : error;
    }),
    "The job",
  );

const isMissing = (error: unknown): boolean => error instanceof ApiError && error.status === 404;

/** @throws Error if there has been no job. */
async function newest(api: Api): Promise<string> {
  const page = await api.call("GET", `${PATH}?limit=1`);
  const [job] = expectShape(pageOf(RepriceJobView), page, "The jobs").data;
  if (!job) throw new Error("There is no repricing job yet. Start one with --from and --to.");
  return job.id;
}

const progressOf = (job: RepriceJobView): ProgressState => {
  const { checked_records: done, unpriced_records: of, repriced_records: priced, failure } = job;
  const waiting = failure === null ? "" : ` (waiting after a failure: ${failure})`;
  return {
    done,
    of,
    text: `${countText(done)} of ${countText(of)} records checked, ${countText(priced)} priced${waiting}`,
  };
};

function printResult(result: RepriceView | RepriceJobView, json: boolean): void {
  if (json) printJson(result);
  else print(resultText(result));
}

function resultText(result: RepriceView | RepriceJobView): string {
  const { dry_run: isDry, repriced_records: priced, unpriced_records: all } = result;
  return [
    ...("state" in result && result.state === "cancelled" ? [CANCELLED] : []),
    `${countText(priced)} of ${countText(all)} unpriced records ${isDry ? "would get" : "got"} a price.`,
    `Cost of the window: ${result.old_cost_usd} USD before, ${result.new_cost_usd} USD ${isDry ? "then" : "now"}.`,
  ].join("\n");
}

const POLL_MS = 1000;
/** A gateway that restarts is back before then, and its work continues. */
const AWAY_POLLS_MAX = 300;

/**
 * Shows a job until it is done; shows nothing if `silent`. While the gateway is away, it waits for five minutes.
 * @throws ApiError
 */
async function followed(api: Api, id: string, silent: boolean): Promise<RepriceJobView> {
  const display = progressDisplay({ silent });
  let away = 0;
  try {
    for (;;) {
      const answer = await api.call("GET", at(id)).catch((error: unknown) => {
        away += 1;
        if (!isAway(error) || away > AWAY_POLLS_MAX) throw error;
        return null;
      });
      if (answer !== null) {
        away = 0;
        const job = expectShape(RepriceJobView, answer, "The job");
        display.show(progressOf(job));
        if (job.state !== "running") return job;
      }
      await Bun.sleep(POLL_MS);
    }
  } finally {
    display.end();
  }
}

const isAway = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === null || error.status >= 500);
