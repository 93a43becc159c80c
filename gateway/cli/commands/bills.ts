import type { Command } from "commander";
import { VendorBillRead } from "#shared/admin/vendor-bills.ts";
import { counted } from "#shared/plural.ts";
import { adminApi, expectShape } from "../client/api.ts";
import { printAs, readNamed, URL_OPTION } from "./common.ts";
import { addAsk } from "./resources.ts";

type Import = Partial<
  Record<"account" | "format" | "mapping" | "currency" | "rate" | "decimal" | "from" | "to" | "url", string>
> & {
  json?: true;
};

export function addBills(program: Command): void {
  const bills = program
    .command("bills")
    .description("Read vendors' bills, to compare them with what was metered.");
  addAsk(bills, "list", {
    about: "List the lines of vendors' bills, as they were read.",
    path: "/vendor-bills",
    takes: { account: "a vendor account", from: "first day", to: "last day" },
  });
  bills
    .command("fetch")
    .description("Fetch the bill of an Anthropic or OpenAI account now.")
    .argument("<account>", "the vendor account")
    .option("--json", "print the result as JSON")
    .option(...URL_OPTION)
    .action(async (account: string, { url, json }: Import) => {
      const path = `/admin/v1/vendor-accounts/${encodeURIComponent(account)}/fetch`;
      printRead(await adminApi(url).call("POST", path), json);
    });
  bills
    .command("import")
    .description("Import a bill from a file: FOCUS, or a vendor's CSV.")
    .argument("<file>", "CSV, or a JSON list")
    .requiredOption("--account <name>", "the vendor account")
    .option("--format <format>", "focus, aws, azure, google or openrouter (default: the vendor's own)")
    .option("--mapping <json>", 'names of columns, such as \'{"day":"Date","amount":"Cost"}\'')
    .option("--currency <code>", "the currency of lines that name none (default: USD)")
    .option("--rate <usd>", "USD for one unit of the file's currency")
    .option("--from <day>", "first day that the file covers, lines or none (default: only days with lines)")
    .option("--to <day>", "last day that it covers")
    .option("--decimal <mark>", "the decimal mark of its numbers, . or ,")
    .option("--json", "print the result as JSON")
    .option(...URL_OPTION)
    .addHelpText("after", "\nA day that the file has replaces that day of the account's bill.")
    .action((file: string, options: Import) => importBill(file, options));
}

async function importBill(file: string, { url, json, ...given }: Import): Promise<void> {
  const query = new URLSearchParams(given);
  const answer = await adminApi(url).call(
    "POST",
    `/admin/v1/vendor-bills/import?${query}`,
    await readNamed(file),
  );
  printRead(answer, json);
}

function printRead(answer: unknown, json: true | undefined): void {
  printAs(json, expectShape(VendorBillRead, answer, "The bill"), (read) => {
    const billed = Object.entries(read.billed).map(([currency, amount]) => `${amount} ${currency}`);
    const rest = read.left_out ? ` ${counted(read.left_out, "row")} of other services left out.` : "";
    const span = `${counted(read.lines, "line")} of ${counted(read.days, "day")}, ${read.from} to ${read.to}`;
    return `${span}: ${billed.join(", ")}.${rest}`;
  });
}
