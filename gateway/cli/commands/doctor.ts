import { type Command, Option } from "commander";
import { counted } from "#shared/plural.ts";
import { Secret } from "../../directory.ts";
import { agentsGateway } from "../agents/agents-gateway.ts";
import { agentFindings } from "../agents/findings.ts";
import {
  agentGateway,
  clientGateway,
  gatewayUrl,
  githubAppUrl,
  loginFor,
  readAdminKey,
} from "../client/settings.ts";
import {
  appFinding,
  type GatewayUnderTest,
  gatewayFindings,
  NO_CALL,
  stampingFinding,
} from "../doctor/gateway.ts";
import { branchFinding, pullRequestFindings } from "../doctor/pull-request.ts";
import { attemptCheck, type Finding, findingText, skipped } from "../print/finding.ts";
import { newSession } from "../stamping/branch-session.ts";
import { type Git, gitIn } from "../stamping/git.ts";
import { githubHost, openGithub } from "../stamping/github.ts";
import { remotesOn } from "../stamping/remote.ts";
import { directoryOf, parseCount, parseUrl, print, URL_OPTION } from "./common.ts";

type Options = { url?: string; appUrl?: string; model?: string; pr?: number; local?: true };

export const addDoctor = (program: Command) =>
  program
    .command("doctor")
    .description("Trace one call and one pull request end to end and report problems.")
    .option("--model <route>", "the route to call (default: echo, which no vendor bills)")
    .option("--pr <number>", "use this pull request instead of the branch's", parseCount)
    .option("--app-url <url>", "also check the GitHub App at this address", parseUrl)
    .addOption(new Option("--local", "skip GitHub and the GitHub App").conflicts(["pr", "appUrl"]))
    .option(...URL_OPTION)
    .addHelpText("after", HELP)
    .action(async (options: Options, command: Command) => {
      process.exitCode = await doctor(directoryOf(command), options);
    });

const HELP = `
On a developer's machine it needs the gateway's address and a client key: TALLYGATE_URL and TALLYGATE_KEY, otherwise those in
the coding agents' settings, otherwise those of \`tallygate login\`. It makes one call, recorded under its own session, checks
the agents used on this machine, their hooks, the branch and its pull request, and changes nothing.

With the admin key it also checks the call's record, the settings, the GitHub App beside the gateway and the pull request's
cost. The exit status is 1 if it finds a problem.`;

async function doctor(directory: string, options: Options): Promise<number> {
  let wrong = 0;
  let isCalled = true;
  for await (const finding of findings(directory, options)) {
    print(findingText(finding));
    if (finding.state === "failed") wrong++;
    if (finding.what === NO_CALL) isCalled = false;
  }
  const problems = wrong === 0 ? "No problems" : `${counted(wrong, "problem")}`;
  print(`\n${problems} found${isCalled ? "" : ", but no call was made: whether calls work is not known"}.`);
  return wrong === 0 ? 0 : 1;
}

type Place = { directory: string; git: Git };

/** The address and key given, else those of the agents' own settings, which count where there is no admin key. */
async function gatewayUnderTest(place: Place, { url, model }: Options): Promise<GatewayUnderTest> {
  const admin = readAdminKey();
  const named = agentGateway() !== null || url !== undefined || admin !== null;
  const agents = named ? null : await agentsGateway(place);
  const session = newSession();
  return {
    url: gatewayUrl(url ?? agents?.url),
    client: agents ? new Secret(agents.key) : (clientGateway(url)?.key ?? null),
    admin,
    model: model ?? null,
    session,
  };
}

async function* findings(directory: string, options: Options): AsyncGenerator<Finding> {
  const git = gitIn(directory);
  const gateway = await gatewayUnderTest({ directory, git }, options);
  const { url, admin } = gateway;
  yield* gatewayFindings(gateway);
  yield admin === null
    ? skipped("The record, the settings and the GitHub App were not checked.", "They need the admin key.")
    : await attemptCheck("The settings cannot be read.", () => stampingFinding(gateway));
  yield await attemptCheck("The checkout cannot be checked.", () => branchFinding(git));
  yield* agentFindings({
    directory,
    git,
    url,
    runLeads: agentGateway() !== null || loginFor(undefined) !== null,
  });
  if (options.local) return;
  if (admin !== null || options.appUrl) yield await appFinding(githubAppUrl(options.appUrl));
  yield* githubFindings({ directory, git }, options.pr ?? null, gateway);
}

async function* githubFindings(
  { directory, git }: Place,
  number: number | null,
  { url, admin }: GatewayUnderTest,
): AsyncGenerator<Finding> {
  try {
    const host = githubHost();
    if (number === null && (await remotesOn(git, host)).length === 0) {
      return yield skipped(
        `This directory is not a checkout of a repository on ${host}.`,
        "No pull request was checked.",
      );
    }
    yield* pullRequestFindings({ git, github: openGithub(directory, null), number, url, admin });
  } catch (error) {
    yield await attemptCheck("The pull request cannot be checked.", () => Promise.reject(error));
  }
}
