import { type Command, Option } from "commander";
import { counted } from "#shared/plural.ts";
import { EXPORT_FORMATS, type ExportFormat } from "../../export/formats.ts";
import { adminApi } from "../client/api.ts";
import { progressDisplay } from "../print/progress.ts";
import { type Filter, parseFilters, parseInstant, URL_OPTION, writeData } from "./common.ts";

type Options = {
  url?: string;
  from?: string;
  to?: string;
  filter?: Filter[];
  format: ExportFormat;
  focus?: true;
};

export const addExport = (program: Command) =>
  program
    .command("export")
    .description("Write the records of calls to standard output, newest first, as many as there are.")
    .option("--from <time>", "started at this time or later: a date or an RFC 3339 time", parseInstant)
    .option("--to <time>", "started before this time; a date includes its day", parseInstant)
    .option("--filter <name=value...>", "only records with this value, such as owner or model", parseFilters)
    .option("--focus", "cost and usage rows of FOCUS 1.4 instead, by day (default: this month)")
    .addOption(
      new Option("--format <format>", "one JSON object a line, CSV with a header, or Parquet")
        .choices(EXPORT_FORMATS)
        .default("ndjson"),
    )
    .option(...URL_OPTION)
    .addHelpText("after", HELP)
    .action((options: Options) => exportFile(options));

const HELP = `
Needs the admin key. A filter is a parameter of GET /admin/v1/requests. Progress goes to standard error. Records have
exact costs, labels and counts, and no text of a prompt or an answer.

  tallygate export --from 2026-11-01 --to 2026-11-30 --filter owner=ada@example.com > november.ndjson
  tallygate export --focus --from 2026-11-01 --to 2026-11-30 --format parquet > november.parquet
  tallygate export --format csv --filter unpriced=true > unpriced.csv`;

async function exportFile({ url, from, to, filter = [], format, focus }: Options): Promise<void> {
  const query = new URLSearchParams(filter.map(({ name, value }) => [name, value]));
  const given = { from, to, format, data: focus ? "focus" : "records" };
  for (const [name, value] of Object.entries(given)) if (value !== undefined) query.set(name, value);
  const display = progressDisplay({});
  let done = 0;
  for await (const bytes of await adminApi(url).file(`/admin/v1/export?${query}`)) {
    if (!(await writeData(bytes))) break;
    done += bytes.length;
    display.show({ done, of: null, text: `${counted(done, "byte")}` });
  }
  display.end();
}
