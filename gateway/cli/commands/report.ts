import { type Command, Option } from "commander";
import { COMPARES, type Result } from "#shared/report.ts";
import { type Report, ReportPayload } from "#shared/report-payload.ts";
import { QueryAnswer } from "#shared/report-query.ts";
import { GatewayError } from "../../errors.ts";
import { readQuery } from "../../reports/request.ts";
import { periodsOf } from "../../reports/window.ts";
import { type Api, ApiError, adminApi, apiAt, expectShape } from "../client/api.ts";
import { clientGateway, readAdminKey } from "../client/settings.ts";
import { movementText } from "../print/movement-text.ts";
import { shortened } from "../print/printable.ts";
import { resultText } from "../print/result-text.ts";
import {
  type Filter,
  parseFilters,
  parseInstant,
  print,
  printData,
  printJson,
  URL_OPTION,
} from "./common.ts";

type Options = {
  url?: string;
  range?: string;
  from?: string;
  to?: string;
  asOf?: string;
  compare?: true;
  why?: true;
  filter?: Filter[];
  csv?: true;
  json?: true;
};

export const addReport = (program: Command) =>
  program
    .command("report")
    .description("Print reports as tables (default: all built-in ones).")
    .argument("[ids...]", "such as cost-per-merged-pr")
    .option("--range <range>", "7d, 30d, mtd or last_month (default: 30d)")
    .option("--from <time>", "start: a date or an RFC 3339 time")
    .option("--to <time>", "end: a date (inclusive) or an RFC 3339 time")
    .option("--as-of <time>", "with the costs that were known then: a date or an RFC 3339 time", parseInstant)
    .option("--compare", "compare with the previous period")
    .option("--why", "also split the change in cost into rate, mix and volume")
    .option("--filter <dimension=values...>", "only these values, separated by commas", parseFilters)
    .addOption(new Option("--csv", "print CSV (one report only)").conflicts("json"))
    .option("--json", "print the payload as JSON")
    .option(...URL_OPTION)
    .addHelpText("after", HELP)
    .action((ids: string[], options: Options, command: Command) => {
      if (options.csv && ids.length !== 1)
        command.error("error: option '--csv' takes one report: name its id");
      const query = queryOf(ids, options);
      const fault = faultOf(query);
      if (fault) command.error(`error: ${fault}`);
      return report(query, options);
    });

const HELP = `
Uses the admin key, or a client key that may read reports: TALLYGATE_KEY, otherwise the key of tallygate login. "≥" marks
money that is a lower bound.

  tallygate report cost-per-merged-pr --range mtd --compare
  tallygate report spend-overview --range mtd --compare --why
  tallygate report spend-by-model --filter client=claude-code,codex --csv`;

/** The gateway's refusal of a query that is invalid in any state, in terms of the option it came from; null: valid. */
function faultOf(query: URLSearchParams): string | null {
  try {
    const { range } = readQuery(query);
    if (range !== null) periodsOf(range, COMPARES[0], { now: new Date() });
    return null;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return error.message.replace(/^(?:spec\.range\.)?([a-z]+)(?:\[[a-z]+\])?:/, "option '--$1':");
  }
}

async function report(query: URLSearchParams, options: Options): Promise<void> {
  const api = reportsApi(options.url);
  const answer = await api.call("GET", `/v1/reports?${query}`).catch((error: unknown) => {
    throw error instanceof ApiError && error.status === 403
      ? new Error(`${error.message} ${NOT_ALLOWED}`)
      : error;
  });
  const payload = expectShape(ReportPayload, answer, "The reports");
  if (options.csv) return printData((await csvOf(api, payload.reports, options)).trimEnd());
  const reports = await (options.asOf ? reportsAsOf(api, payload.reports, options) : payload.reports);
  if (options.json) return printJson({ ...payload, reports });
  const width = process.stdout.columns || COLUMNS;
  const texts = reports.map(async ({ title, result }) => {
    const text = result ? resultText(result, width) : FAILED;
    const why = options.why && result ? await whyText(api, result) : "";
    return `${shortened(title, width)}\n${text}${why}`;
  });
  print((await Promise.all(texts)).join("\n\n"));
}

/** The same reports, with the costs that were known at an instant. */
const reportsAsOf = (api: Api, reports: readonly Report[], { asOf }: Options): Promise<Report[]> =>
  Promise.all(
    reports.map(async (report) => {
      if (!report.result) return report;
      const asked = { spec: report.result.spec, as_of: asOf };
      const answer = await api.call("POST", "/v1/reports/query", asked);
      return { ...report, result: expectShape(QueryAnswer, answer, "The report") };
    }),
  );

async function whyText(api: Api, { spec }: Result): Promise<string> {
  if (spec.source !== "requests") return "";
  const asked = { ...spec, dimensions: [], measures: ["cost_usd"], compare: "previous_period" };
  const answer = await api.call("POST", "/v1/reports/query", { spec: asked, rate_mix_volume: true });
  const { rate_mix_volume: moved } = expectShape(QueryAnswer, answer, "The report");
  return moved ? `\n${movementText(moved)}` : "";
}

const NOT_ALLOWED =
  "Set ADMIN_KEY, or ask an administrator for a key that may (`tallygate keys create NAME --reports`).";

/** A file and a pipe have no width; 80 columns fit everywhere. */
const COLUMNS = 80;

const FAILED = "This report failed. The gateway's log says why.";

/** Administrators use their key, others a client key. */
function reportsApi(url: string | undefined): Api {
  const admin = readAdminKey();
  const client = admin === null ? clientGateway(url) : null;
  return client ? apiAt(client.url, client.key) : adminApi(url);
}

function queryOf(ids: readonly string[], options: Options): URLSearchParams {
  const query = new URLSearchParams(ids.map((id) => ["id", id]));
  for (const name of ["range", "from", "to"] as const) {
    const value = options[name];
    if (value !== undefined) query.set(name, value);
  }
  if (options.compare) query.set("compare", COMPARES[1]);
  for (const { name, value } of options.filter ?? []) query.append(`filter[${name}]`, value);
  return query;
}

/** The gateway's own CSV of the same specification. */
async function csvOf(api: Api, reports: readonly Report[], { asOf }: Options): Promise<string> {
  const [one, ...others] = reports;
  if (!one?.result || others.length > 0) throw new Error("--csv: Name one report.");
  const { spec }: Result = one.result;
  return await api.text("POST", "/v1/reports/query?format=csv", { spec, as_of: asOf });
}
