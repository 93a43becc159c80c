import { type Command, Option } from "commander";
import { pageOf } from "#shared/admin/fields.ts";
import { RepriceJobView, RepriceView, RestateJobView } from "#shared/admin/prices.ts";
import { counted } from "#shared/plural.ts";
import { fits } from "#shared/schema.ts";
import { type Api, ApiError, adminApi, expectShape } from "../client/api.ts";
import { countText, type ProgressState, progressDisplay } from "../print/progress.ts";
import { tableText } from "../print/table.ts";
import { parseInstant, printAs, printNote, URL_OPTION } from "./common.ts";

type Options = {
  from?: string;
  to?: string;
  /** True: the newest one. */
  job?: string | true;
  cancel?: string;
  provider?: string;
  model?: string;
  dryRun?: boolean;
  json?: boolean;
  url?: string;
};

export const addReprice = (program: Command) =>
  withOptions(
    program
      .command("reprice")
      .description("Price records without a price, using the prices now known for their day."),
    "reprice",
  );

export const addRestate = (program: Command) =>
  withOptions(
    program
      .command("restate")
      .description(
        "Price records again, with the prices now known for their day. Closed months stay unchanged.",
      )
      .option("--provider <name>", "only records of this provider")
      .option("--model <name>", "only records of this model"),
    "restate",
  );

type Kind = "reprice" | "restate";

const withOptions = (command: Command, kind: Kind) =>
  command
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
    .action((options: Options, it: Command) => {
      const { from, to, job, cancel } = options;
      if (job === undefined && cancel === undefined && (from === undefined || to === undefined)) {
        it.error(
          "error: give --from and --to, such as --from 2026-01-01 --to 2026-01-31, or --job or --cancel",
        );
      }
      return run(kind, options);
    });

const WINDOW = ["from", "to", "dryRun", "provider", "model"];

const CANCELLED = "The job was cancelled; what it had priced stays priced.";

const HELP = `
Many records are priced as a background job on the gateway. It continues if this command stops or the gateway restarts.`;

type Jobs = { api: Api; kind: Kind; path: string; silent: boolean };
type Job = RepriceJobView | RestateJobView;

const viewOf = (kind: Kind) => (kind === "reprice" ? RepriceJobView : RestateJobView);

async function run(kind: Kind, options: Options): Promise<void> {
  const { from, to, provider, model, job, cancel, dryRun = false, json = false, url } = options;
  const api = adminApi(url);
  const jobs = { api, kind, path: `/admin/v1/prices/${kind}`, silent: json };
  if (cancel !== undefined) return printResult(await cancelled(jobs, cancel), json);
  if (job !== undefined)
    return printResult(await followed(jobs, job === true ? await newest(jobs) : job), json);
  const answer = await api.call("POST", jobs.path, { from, to, provider, model, dry_run: dryRun });
  if (fits(RepriceView, answer)) return printResult(answer, json);
  const begun = expectShape(viewOf(kind), answer, "The job");
  if (begun.state !== "running") return printResult(begun, json);
  const { id } = begun;
  if (!json) printNote(`job ${id}; follow it again with --job ${id}, cancel it with --cancel ${id}`);
  printResult(await followed(jobs, id), json);
}

const at = ({ path }: Jobs, id: string): string => `${path}/${encodeURIComponent(id)}`;

const cancelled = async (jobs: Jobs, id: string): Promise<Job> =>
  expectShape(
    viewOf(jobs.kind),
    await jobs.api.call("POST", `${at(jobs, id)}/cancel`).catch((error: unknown) => {
      throw isMissing(error) ? new Error(`No job has the id ${id}. --job follows the newest.`) : error;
    }),
    "The job",
  );

const isMissing = (error: unknown): boolean => error instanceof ApiError && error.status === 404;

/** @throws Error if there has been no job. */
async function newest({ api, path, kind }: Jobs): Promise<string> {
  const page = await api.call("GET", `${path}?limit=1`);
  const [job] = expectShape(pageOf(viewOf(kind)), page, "The jobs").data;
  if (!job) throw new Error("There is no such job yet. Start one with --from and --to.");
  return job.id;
}

const progressOf = (job: Job): ProgressState => {
  const { checked_records: done, failure } = job;
  const { of, priced } = countsOf(job);
  const waiting = failure === null ? "" : ` (waiting after a failure: ${failure})`;
  return {
    done,
    of,
    text: `${countText(done)} of ${counted(of, "record")} checked, ${countText(priced)} priced${waiting}`,
  };
};

const countsOf = (it: Job | RepriceView) =>
  "restated_records" in it
    ? { of: it.records, priced: it.restated_records }
    : { of: it.unpriced_records, priced: it.repriced_records };

const printResult = (result: RepriceView | Job, json: boolean): void => printAs(json, result, resultText);

function resultText(result: RepriceView | Job): string {
  const { dry_run: isDry, closed_months: closed } = result;
  const { of, priced } = countsOf(result);
  const some = `${countText(priced)} of`;
  const changed = "restated_records" in result;
  return [
    ...("state" in result && result.state === "cancelled" ? [CANCELLED] : []),
    changed
      ? `${some} ${counted(of, "record")} ${isDry ? "would change" : "changed"}.`
      : `${some} ${counted(of, "unpriced record")} ${isDry ? "would get" : "got"} a price.`,
    `Cost of the window: ${result.old_cost_usd} USD before, ${result.new_cost_usd} USD ${isDry ? "then" : "now"}.`,
    ...(closed.length > 0 ? [`Closed months stay unchanged: ${closed.join(", ")}.`] : []),
    ...(changed ? differencesText(result) : []),
  ].join("\n");
}

/** The greatest differences, by month, team and model. */
function differencesText({ differences = [] }: RestateJobView): string[] {
  const rows = differences
    .slice(0, LINES_MAX)
    .map((it) => [
      ...[it.month, it.team ?? "(no team)", it.model, countText(it.records)],
      ...[it.old_cost_usd, it.new_cost_usd, it.difference_usd],
    ]);
  if (rows.length === 0) return [];
  return [
    "",
    tableText(
      ["Month", "Team", "Model", "Records", "Before", "After", "Difference"],
      rows,
      (column) => column > 2,
    ),
  ];
}
const LINES_MAX = 50;

const POLL_MS = 1000;
/** A gateway that restarts is back before then, and its work continues. */
const AWAY_POLLS_MAX = 300;

/** Shows a job until it is done, nothing if `silent`. Waits five minutes for a gateway that is away. @throws ApiError */
async function followed(jobs: Jobs, id: string): Promise<Job> {
  const display = progressDisplay(jobs);
  let away = 0;
  try {
    for (;;) {
      const answer = await jobs.api.call("GET", at(jobs, id)).catch((error: unknown) => {
        away += 1;
        if (!isAway(error) || away > AWAY_POLLS_MAX) throw error;
        return null;
      });
      if (answer !== null) {
        away = 0;
        const job = expectShape(viewOf(jobs.kind), answer, "The job");
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
