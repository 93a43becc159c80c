import type { Command } from "commander";
import type { SessionId } from "#shared/labels.ts";
import { gitIn } from "../stamping/git.ts";
import { type GithubVia, openGithub } from "../stamping/github.ts";
import type { RepositoryName } from "../stamping/pull-request.ts";
import { stampReview } from "../stamping/review.ts";
import { directoryOf, parseCount, parser } from "./common.ts";
import { parseRepository, printStamped, VIA_OPTION } from "./pr.ts";
import { parseSession } from "./session.ts";

type Options = {
  number?: number;
  repo?: RepositoryName;
  review?: number;
  session?: SessionId;
  via?: GithubVia;
  dryRun?: true;
  json?: true;
};

export const addReview = (program: Command) => {
  const review = program.command("review").description("Work with your review of a pull request.");
  review
    .command("stamp")
    .description("Add the session's line to your latest review so that the review counts.")
    .option("--number <n>", "use this pull request instead of the branch's", parseCount)
    .option("--repo <owner/name>", "use this repository instead of the checkout's", parseRepository)
    .option("--review <id>", "use this review instead of your latest", reviewId)
    .option("--session <id>", "use this session instead of the branch's", parseSession)
    .option(...VIA_OPTION)
    .option("--dry-run", "print what would change, and change nothing")
    .option("--json", "print JSON")
    .action(async (options: Options, command: Command) => {
      const { number = null, repo: place = null, review = null, session = null, via = null } = options;
      const directory = directoryOf(command);
      const stamped = await stampReview(gitIn(directory), openGithub(directory, via), {
        place,
        number,
        review,
        session,
        dryRun: options.dryRun ?? false,
      });
      process.exitCode = printStamped(stamped, options.json ?? false);
    });
};

/** GitHub's ids have ten digits today and keep growing. */
const reviewId = parser("A review's id is the whole number at the end of its address.", (text) =>
  /^[1-9]\d{0,14}$/.test(text) ? Number(text) : null,
);
