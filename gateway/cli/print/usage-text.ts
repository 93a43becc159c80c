import { type Static, Type } from "@sinclair/typebox";
import { Me } from "#shared/admin/me.ts";
import type { Result, Row } from "#shared/report.ts";
import { nullable, open } from "#shared/schema.ts";
import { formatPico, parsePico } from "../../limits/money.ts";
import { cellText } from "./figure-text.ts";
import { printable, shortened } from "./printable.ts";
import { tableText } from "./table.ts";

/** Of `GET /v1/me`, what is printed. */
export const OwnAccount = open({
  email: Type.String(),
  team: nullable(Type.String()),
  month: Me.properties.month,
});
type OwnAccount = Static<typeof OwnAccount>;

export type OwnUsage = { me: OwnAccount; models: Result; days: Result };

/** A terminal of 80 columns: a longer name of a model is cut, so that its figures stay in line. */
const NAME_WIDTH_MAX = 30;

/** A person's month: what it cost against the budget, by model and by day. */
export function usageText({ me, models, days }: OwnUsage): string {
  const who = printable(me.team === null ? me.email : `${me.email}, team ${me.team}`);
  const month = monthOf(days);
  const lines = [`${who}, ${month} (UTC)`, monthText(me.month)];
  if (models.rows.length === 0) return [...lines, "", "No call yet this month."].join("\n");
  return [...lines, "", groupText("model", models), "", groupText("day", days)].join("\n");
}

const monthOf = ({ window }: Result): string => window.from?.slice(0, 7) ?? "this month";

function monthText({
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
