import { type Command, Option } from "commander";
import { parseSessionId, type SessionId } from "#shared/labels.ts";
import { agentsGateway } from "../agents/agents-gateway.ts";
import { newSession, pinSession, unpinSession } from "../stamping/branch-session.ts";
import { currentBranch, type Git, gitIn, isDefaultBranch } from "../stamping/git.ts";
import { linkSession } from "../stamping/link.ts";
import { directoryOf, parser, print, printNote } from "./common.ts";

type Options = { new?: true; id?: SessionId; clear?: true; link?: SessionId };

export const addSession = (program: Command) =>
  program
    .command("session")
    .description("Print the current branch's session id; create it if there is none.")
    .option("--new", "start another task on this branch, with a new id")
    .option("--id <id>", "set the branch's session to this id", parseSession)
    .addOption(new Option("--clear", "remove the branch's session").conflicts(["new", "id"]))
    .addOption(
      new Option("--link <id>", "declare that this agent session also worked on the branch")
        .argParser(parseSession)
        .conflicts(["new", "id", "clear"]),
    )
    .addHelpText(
      "after",
      "\nSend it as `x-session-id` with every call of the task. It is stored in this repository's git configuration\n" +
        '(branch.<name>.gateway-session), never in a commit.\n\n  curl -H "x-session-id: $(tallygate session)" …',
    )
    .action((options: Options, command: Command) => session(directoryOf(command), options));

async function session(directory: string, options: Options): Promise<void> {
  const git = gitIn(directory);
  const branch = await currentBranch(git);
  if (branch === null) {
    throw new Error("No branch is checked out, so there is nowhere to store a session.");
  }
  const { id = null } = options;
  if (options.link) return link({ directory, git, branch }, options.link);
  if (options.clear || options.new || id) await unpinSession(git, branch);
  if (options.clear) return printNote(`${branch} no longer has a session.`);
  if (await isDefaultBranch(git, branch)) {
    printNote(
      `${branch} is the default branch: all work on it would count as one task. Create a branch for the task.`,
    );
  }
  print(await pinSession(git, branch, id ?? newSession()));
}

/** Declares it at the gateway; the task's session goes to standard output. */
async function link(place: { directory: string; git: Git; branch: string }, session: SessionId) {
  const gateway = await agentsGateway(place);
  if (gateway === null)
    throw new Error(
      "The gateway stores the link: run `tallygate login`, or set TALLYGATE_URL and TALLYGATE_KEY.",
    );
  const task = await linkSession(place.git, { session, branch: place.branch }, gateway);
  if (task === null)
    throw new Error("The default branch has no task. Create a branch for it first: `git switch -c NAME`.");
  print(task);
}

export const parseSession = parser("A session id has 1 to 64 letters, digits, . _ : or -", parseSessionId);
