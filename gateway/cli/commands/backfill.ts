import type { Command } from "commander";
import { BackfillView } from "#shared/admin/repositories.ts";
import { counted } from "#shared/plural.ts";
import { adminApi, expectShape } from "../client/api.ts";
import type { RepositoryName } from "../stamping/pull-request.ts";
import { parseInstant, print, URL_OPTION } from "./common.ts";
import { parseRepository } from "./pr.ts";

type Options = { since?: string; repo?: RepositoryName; url?: string };

export const addBackfill = (program: Command) =>
  program
    .command("backfill")
    .description("Have the GitHub App read pull requests and reviews again. Nothing already stored is lost.")
    .option("--since <date>", "only those changed since this date (default: all)", parseInstant)
    .option("--repo <owner/name>", "only this repository", parseRepository)
    .option(...URL_OPTION)
    .addHelpText("after", "\nThe App starts within seconds; GET /admin/v1/repositories shows its progress.")
    .action(backfill);

async function backfill({ since, repo, url }: Options): Promise<void> {
  const body = { ...(since && { since }), ...(repo && { repository: `${repo.owner}/${repo.repository}` }) };
  const answer = await adminApi(url).call("POST", "/admin/v1/repositories/backfill", body);
  const { repositories } = expectShape(BackfillView, answer, "The backfill");
  const back = since === undefined ? "from the first pull request on" : `back to ${since}`;
  print(
    repositories === 0
      ? "The GitHub App has no repository yet."
      : `${counted(repositories, "repository is", "repositories are")} read again, ${back}.`,
  );
}
