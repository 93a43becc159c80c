import type { Command } from "commander";
import type { SessionId } from "#shared/labels.ts";
import { agentsGateway } from "../agents/agents-gateway.ts";
import { gitIn } from "../stamping/git.ts";
import { type GithubVia, isGithubVia, openGithub } from "../stamping/github.ts";
import { linkInstead } from "../stamping/link.ts";
import type { RepositoryName } from "../stamping/pull-request.ts";
import { stampPullRequest } from "../stamping/stamp.ts";
import type { Stamped } from "../stamping/stamp-target.ts";
import { directoryOf, parseCount, parser, print, printJson, printNote } from "./common.ts";
import { parseSession } from "./session.ts";

type Options = {
  number?: number;
  repo?: RepositoryName;
  session?: SessionId;
  via?: GithubVia;
  fromCommits?: true;
  dryRun?: true;
  json?: true;
};

export const addPr = (program: Command): Command => {
  const pr = program.command("pr").description("Stamp a task's pull request, and print its cost.");
  pr.command("stamp")
    .description("Add the session's line to the pull request. Running it again changes nothing.")
    .option("--number <n>", "use this pull request instead of the branch's", parseCount)
    .option("--repo <owner/name>", "use this repository instead of the checkout's", parseRepository)
    .option("--session <id>", "use this session instead of the branch's", parseSession)
    .option("--from-commits", "if the branch has no session, use the commits' Gateway-Session trailers")
    .option(...VIA_OPTION)
    .option("--dry-run", "print what would change, and change nothing")
    .option("--json", "print JSON")
    .addHelpText("after", HELP)
    .action(async (options: Options, command: Command) => {
      const stamped = await stampIn(directoryOf(command), options);
      process.exitCode = printStamped(stamped, options.json ?? false);
    });
  return pr;
};

const HELP = `
GITHUB_TOKEN (or GH_TOKEN) needs "Pull requests: write"; GHE_HOST names a GitHub Enterprise Server. The line reads
\`Gateway-Session: <id>\`. If another id is already there, nothing changes and the exit status is 1.`;

export const parseRepository = parser("Expected owner/name.", (text): RepositoryName | null => {
  const [, owner, repository] = /^([A-Za-z0-9-]+)\/([A-Za-z0-9._-]+)$/.exec(text) ?? [];
  return owner && repository ? { owner, repository } : null;
});

export const VIA_OPTION = [
  "--via <way>",
  "rest (GITHUB_TOKEN) or gh (the GitHub CLI); rest where a token is set",
  parser("gh or rest is expected.", (text) => (isGithubVia(text) ? text : null)),
] as const;

/** Prints the result. Exit status 1 if somebody has to act, else 0. */
export function printStamped({ done, ...rest }: Stamped, json: boolean): number {
  if (json) printJson({ done, ...rest });
  else if (done) print(rest.text);
  else printNote(rest.text);
  return done ? 0 : 1;
}

async function stampIn(directory: string, options: Options): Promise<Stamped> {
  const { via = null, number = null, repo = null, session = null } = options;
  const git = gitIn(directory);
  const stamped = await stampPullRequest(git, openGithub(directory, via), {
    place: repo,
    number,
    session,
    reported: null,
    fromCommits: options.fromCommits ?? false,
    dryRun: options.dryRun ?? false,
  });
  return stamped.instead ? await linkInstead(git, stamped, await agentsGateway({ directory, git })) : stamped;
}
