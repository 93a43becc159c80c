import { Type } from "@sinclair/typebox";
import { type Command, Option } from "commander";
import { RequestView } from "#shared/admin/records.ts";
import { keysOf } from "#shared/keys-of.ts";
import { plural } from "#shared/plural.ts";
import { csvLine, textCell } from "../../reports/csv.ts";
import { adminApi, listPages } from "../client/api.ts";
import { countText, progressDisplay } from "../print/progress.ts";
import { type Filter, parseFilters, parseInstant, URL_OPTION, writeData } from "./common.ts";

type Options = { url?: string; from?: string; to?: string; filter?: Filter[]; format: "ndjson" | "csv" };

const COLUMNS = keysOf(RequestView.properties);
/** Whatever members a record has: they are only passed on. */
const Exported = Type.Record(Type.String(), Type.Unknown());

export const addExport = (program: Command) =>
  program
    .command("export")
    .description("Write the records of calls to standard output, newest first, as many as there are.")
    .option("--from <time>", "started at this time or later: a date or an RFC 3339 time", parseInstant)
    .option("--to <time>", "started before this time; a date includes its day", parseInstant)
    .option("--filter <name=value...>", "only records with this value, such as owner or model", parseFilters)
    .addOption(
      new Option("--format <format>", "one JSON object a line, or CSV with a header")
        .choices(["ndjson", "csv"])
        .default("ndjson"),
    )
    .option(...URL_OPTION)
    .addHelpText("after", HELP)
    .action((options: Options) => exportRecords(options));

const HELP = `
Needs the admin key. A filter is a parameter of GET /admin/v1/requests. Progress goes to standard error. Records have
exact costs, labels and counts, and no text of a prompt or an answer.

  tallygate export --from 2026-11-01 --to 2026-11-30 --filter owner=ada@example.com > november.ndjson
  tallygate export --format csv --filter unpriced=true > unpriced.csv`;

async function exportRecords({ url, from, to, filter = [], format }: Options): Promise<void> {
  const query = new URLSearchParams(filter.map(({ name, value }) => [name, value]));
  for (const [name, value] of Object.entries({ from, to })) if (value !== undefined) query.set(name, value);
  const display = progressDisplay({});
  let written = 0;
  if (format === "csv") await writeData(csvLine(COLUMNS));
  for await (const page of listPages(adminApi(url), `/admin/v1/requests?${query}`, Exported)) {
    const lines = page.map((record) =>
      format === "csv"
        ? csvLine(COLUMNS.map((name) => textCell([record[name] ?? ""].flat().join(" "))))
        : `${JSON.stringify(record)}\n`,
    );
    await writeData(lines.join(""));
    written += page.length;
    display.show({
      done: written,
      of: null,
      text: `${countText(written)} ${plural(written, "record", "records")}`,
    });
  }
  display.end();
}
