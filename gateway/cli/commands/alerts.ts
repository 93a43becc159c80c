import type { Command } from "commander";
import { AlertTest, AlertView } from "#shared/admin/alerts.ts";
import { adminApi, expectShape, listAll } from "../client/api.ts";
import { tableText } from "../print/table.ts";
import { print, printAs, URL_OPTION } from "./common.ts";
import { addChanges } from "./resources.ts";

type Options = { url?: string; json?: true };

export function addAlerts(program: Command): void {
  const alerts = program
    .command("alerts")
    .description("List what is reported to whom, change it, or send a test message.")
    .option("--json", "print JSON")
    .option(...URL_OPTION)
    .action(async ({ url, json }: Options) => {
      printAs(json, await listAll(adminApi(url), "/admin/v1/alerts", AlertView), listText);
    });
  alerts
    .command("test")
    .description("Send a test message, and say whether the receiver took it.")
    .argument("<name>", "the alert")
    .option(...URL_OPTION)
    .action(async (name: string, { url }: Options) => {
      const path = `/admin/v1/alerts/${encodeURIComponent(name)}/test`;
      const answer = await adminApi(url ?? alerts.opts<Options>().url).call("POST", path);
      const { delivered, failure } = expectShape(AlertTest, answer, "The test");
      if (!delivered) throw new Error(`The receiver did not take the message: ${failure}`);
      print("The receiver took the message.");
    });
  addChanges(
    alerts,
    "alerts",
    `\n  tallygate alerts set money on='[threshold]' to='{kind: email, url: "\${SMTP}", addresses: [a@example.com]}'`,
  );
}

function listText(all: readonly AlertView[]): string {
  if (all.length === 0) return "No alert is set: `tallygate alerts set`, or `tallygate apply`.";
  const rows = all.map(({ name, on, to, enabled, last_sent_at: sent, failure }) => [
    name,
    on.join(", "),
    to.addresses?.join(", ") ?? `${to.kind} ${to.url}`,
    enabled ? "on" : "off",
    sent ?? "never",
    failure ?? "",
  ]);
  return tableText(["alert", "about", "to", "is", "last sent", "last failure"], rows, () => false);
}
