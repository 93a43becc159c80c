import { Type } from "@sinclair/typebox";
import type { Command } from "commander";
import { KeyView } from "#shared/admin/keys.ts";
import { nullable, open } from "#shared/schema.ts";
import { expectShape } from "../client/api.ts";
import { printable } from "../print/printable.ts";
import { tableText } from "../print/table.ts";
import { print, printJson, URL_OPTION } from "./common.ts";
import { monthText, OwnAccount, ownApi } from "./usage.ts";

/** Of `GET /v1/me`, what is printed. */
const Me = open({
  ...OwnAccount.properties,
  name: Type.String(),
  role: Type.String(),
  keys: Type.Array(
    open({
      id: Type.String(),
      name: Type.String(),
      status: Type.String(),
      expires_at: nullable(Type.String()),
      limits: KeyView.properties.limits,
      secrets: Type.Array(open({ last_four: Type.String() })),
    }),
  ),
});

type Options = { url?: string; json?: true };

export const addWhoami = (program: Command) =>
  program
    .command("whoami")
    .description("Print the gateway, the person and the key that this computer uses.")
    .option("--json", "print the gateway's answer as JSON")
    .option(...URL_OPTION)
    .action(async ({ url, json }: Options) => {
      const { me, key, ...gateway } = await readMe(url);
      if (json) return printJson(me);
      const own = me.keys.find(({ secrets }) =>
        secrets.some(({ last_four: end }) => key.reveal().endsWith(end)),
      );
      const lines = [
        `${printable(me.email)} (${printable(me.name)}), ${me.role}${me.team === null ? "" : ` of team ${printable(me.team)}`}`,
        `gateway  ${gateway.url}`,
        ...(own
          ? [`key      ${printable(own.name)}${own.expires_at ? `, expires ${own.expires_at}` : ""}`]
          : []),
      ];
      print(lines.join("\n"));
    });

export const addBudget = (program: Command) =>
  program
    .command("budget")
    .description("Print what is left of your budget this month, and your keys' limits.")
    .option("--json", "print the gateway's answer as JSON")
    .option(...URL_OPTION)
    .addHelpText(
      "after",
      "\nBudgets and their periods are in UTC. `tallygate usage` shows what the money was spent on.",
    )
    .action(async ({ url, json }: Options) => {
      const { me } = await readMe(url);
      if (json)
        return printJson({
          month: me.month,
          keys: me.keys.map(({ id, name, limits }) => ({ id, name, limits })),
        });
      const rows = me.keys
        .filter(({ limits, status }) => limits !== null && status === "active")
        .map(({ name, limits }) => [
          printable(name),
          limits?.budget_usd ? `$${limits.budget_usd} a ${limits.budget_period ?? "month"}` : "",
          ...[limits?.requests_per_minute, limits?.tokens_per_minute, limits?.concurrency].map(
            (it) => it?.toString() ?? "",
          ),
        ]);
      const head = ["key", "budget", "calls a minute", "tokens a minute", "at once"];
      const table = rows.length > 0 ? ["", tableText(head, rows, (column) => column > 1)] : [];
      print(
        [monthText(me.month), `The next month begins on ${nextMonth(new Date())} (UTC).`, ...table].join(
          "\n",
        ),
      );
    });

async function readMe(url: string | undefined) {
  const own = ownApi(url);
  return { ...own, me: expectShape(Me, await own.get("/v1/me"), "Your account") };
}

/** The first day of the month after `now`, in UTC. */
const nextMonth = (now: Date): string =>
  new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)).toISOString().slice(0, 10);
