import type { Command } from "commander";
import { DigestPreview, DigestState } from "#shared/admin/digest.ts";
import { adminApi, expectShape } from "../client/api.ts";
import { tableText } from "../print/table.ts";
import { print, printJson, URL_OPTION } from "./common.ts";

export const addDigest = (program: Command) =>
  program
    .command("digest")
    .description("Print when and where the weekly digest is sent, and the status of the latest ones.")
    .option("--dry-run", "print the digest of the last seven whole days without sending it")
    .option("--json", "with --dry-run: print its figures as JSON")
    .option(...URL_OPTION)
    .action((options: Options, command: Command) => {
      if (options.json && !options.dryRun) command.error("error: option '--json' requires '--dry-run'");
      return digest(options);
    });

type Options = { url?: string; dryRun?: true; json?: true };

async function digest({ url, dryRun, json }: Options): Promise<void> {
  const api = adminApi(url);
  if (!dryRun) {
    return print(
      stateText(expectShape(DigestState, await api.call("GET", "/admin/v1/digest"), "The digest")),
    );
  }
  const preview = expectShape(DigestPreview, await api.call("GET", "/admin/v1/digest/preview"), "The digest");
  if (json) printJson(preview.digest);
  else print(`${preview.title}\n\n${preview.text}`);
}

function stateText({ next_due_at, repository, webhook, latest }: DigestState): string {
  const ways = [
    ...(repository === null ? [] : [`as an issue in ${repository}`]),
    ...(webhook === null ? [] : [`to the webhook at ${webhook.host}`]),
  ];
  const next =
    ways.length === 0
      ? "No digest is sent: set `digest_repository`, or PUT /admin/v1/digest/webhook."
      : `The next one is due at ${next_due_at}, ${ways.join(" and ")}.`;
  if (latest.length === 0) return next;
  const rows = latest.map((it) => [
    it.due_on,
    it.channel,
    it.state,
    it.sent_at ?? "",
    it.issue_number === null ? "" : `#${it.issue_number}`,
    it.failure ?? "",
  ]);
  const table = tableText(["due", "way", "state", "sent", "issue", "last failure"], rows, () => false);
  return `${next}\n\n${table}`;
}
