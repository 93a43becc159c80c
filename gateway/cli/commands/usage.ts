import { type Static, Type } from "@sinclair/typebox";
import type { Command } from "commander";
import { Me } from "#shared/admin/me.ts";
import { Result, type Row } from "#shared/report.ts";
import { nullable, open } from "#shared/schema.ts";
import { formatPico, parsePico } from "../../limits/money.ts";
import { ApiError, apiAt, expectShape } from "../client/api.ts";
import { clientGateway, gatewayUrl } from "../client/settings.ts";
import { cellText } from "../print/figure-text.ts";
import { printable, shortened } from "../print/printable.ts";
import { tableText } from "../print/table.ts";
import { printAs, URL_OPTION } from "./common.ts";

type Options = { url?: string; json?: true };

export const addOwnUsage = (program: Command) =>
  program
    .command("usage")
    .description("Print this month's spending by model and by day, and your budget.")
    .option("--json", "print the gateway's answers as JSON")
    .option(...URL_OPTION)
    .addHelpText(
      "after",
      '\nUses TALLYGATE_KEY, otherwise the key of `tallygate login`. "≥" marks money that is a lower bound.',
    )
    .action((options: Options) => usage(options));

async function usage({ url, json }: Options): Promise<void> {
  printAs(json, await read(ownApi(url)), usageText);
}

/** Asks the gateway with a person's own key. A refusal says what to do. @throws Error without a key. */
export function ownApi(url: string | undefined) {
  const gateway = clientGateway(url);
  if (gateway === null) {
    throw new Error(
      `You are not logged in at ${gatewayUrl(url)}. Run \`tallygate login\`, or set TALLYGATE_KEY.`,
    );
  }
  const api = apiAt(gateway.url, gateway.key);
  const get = (path: string) =>
    api.call("GET", path).catch((error: unknown) => {
      const remedy = error instanceof ApiError ? REMEDIES[error.status ?? 0]?.(gateway) : undefined;
      throw remedy ? new Error(remedy, { cause: error }) : error;
    });
  return { url: gateway.url, key: gateway.key, get };
}

type Gateway = NonNullable<ReturnType<typeof clientGateway>>;

/** What to do, by the status of the gateway's refusal. */
const REMEDIES: Readonly<Record<number, (gateway: Gateway) => string>> = {
  401: ({ url, isGiven }) => {
    const what = isGiven ? "Correct TALLYGATE_KEY, or unset it and run" : "Run";
    return `${url} does not accept your key: it is unknown there, was revoked or has expired. ${what} \`tallygate login\`.`;
  },
  403: ({ url }) =>
    `The key works at ${url} and has no owner, so it has no usage of its own. Unset TALLYGATE_KEY and run \`tallygate login\`, or use your own key.`,
};

async function read({ get }: ReturnType<typeof ownApi>): Promise<OwnUsage> {
  const by = async (dimension: string) =>
    expectShape(Result, await get(`/v1/me/usage?by=${dimension}&range=mtd`), "The usage");
  return {
    me: expectShape(OwnAccount, await get("/v1/me"), "Your account"),
    models: await by("model"),
    days: await by("day"),
  };
}

/** Of `GET /v1/me`, what is printed. */
export const OwnAccount = open({
  email: Type.String(),
  team: nullable(Type.String()),
  month: Me.properties.month,
});
type OwnAccount = Static<typeof OwnAccount>;

type OwnUsage = { me: OwnAccount; models: Result; days: Result };

/** A terminal of 80 columns: a longer name of a model is cut, so that its figures stay in line. */
const NAME_WIDTH_MAX = 30;

/** A person's month: what it cost against the budget, by model and by day. */
function usageText({ me, models, days }: OwnUsage): string {
  const who = printable(me.team === null ? me.email : `${me.email}, team ${me.team}`);
  const month = monthOf(days);
  const lines = [`${who}, ${month} (UTC)`, monthText(me.month)];
  if (models.rows.length === 0) return [...lines, "", "No call yet this month."].join("\n");
  return [...lines, "", groupText("model", models), "", groupText("day", days)].join("\n");
}

const monthOf = ({ window }: Result): string => window.from?.slice(0, 7) ?? "this month";

/** What was spent of the month's budget, in a sentence. */
export function monthText({
  cost_usd: cost,
  floor,
  budget_usd: budget,
  budget_left_usd: left,
}: OwnAccount["month"]): string {
  const spent = cost === null ? "an unknown amount" : `${floor ? "≥ " : ""}${dollars(cost)}`;
  if (budget === undefined || left === undefined) return `Spent ${spent}; your keys have no monthly budget.`;
  return `Spent ${spent}; ${dollars(left)} of the budget of ${dollars(budget)} is left.`;
}

/** Exact money in cents, or to a millionth below one dollar; rounded down. */
function dollars(decimal: string): string {
  const pico = parsePico(decimal);
  const [whole = "0", fraction = ""] = formatPico(pico).split(".");
  const digits = whole !== "0" || pico === 0n ? 2 : 6;
  return `$${whole.replace(/\B(?=(\d{3})+$)/g, ",")}.${fraction.slice(0, digits)}`;
}

function groupText(title: string, { rows, total }: Result): string {
  const line = (name: string, row: Row) => [
    name,
    cellText(row, "requests"),
    cellText(row, "input_tokens"),
    cellText(row, "output_tokens"),
    cellText(row, "cost_usd"),
  ];
  const all = [...rows.map((row) => line(nameOf(row), row)), line("total", total)];
  return tableText([title, "calls", "tokens in", "tokens out", "USD"], all, (column) => column > 0);
}

const nameOf = ({ groups }: Row): string => shortened(groups[0] ?? "", NAME_WIDTH_MAX);
