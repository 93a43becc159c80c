import { type Command, Option } from "commander";
import { gatewayUrl, githubAppUrl, readAdminKey, readClientKey } from "../client/settings.ts";
import { claudeFinding } from "../doctor/claude.ts";
import { attemptCheck, type Finding, findingText } from "../doctor/finding.ts";
import { appFinding, type GatewayUnderTest, gatewayFindings, stampingFinding } from "../doctor/gateway.ts";
import { branchFinding, pullRequestFindings } from "../doctor/pull-request.ts";
import { newSession } from "../stamping/branch-session.ts";
import { gitIn } from "../stamping/git.ts";
import { openGithub } from "../stamping/github.ts";
import { directoryOf, parseCount, parseUrl, print, URL_OPTION } from "./common.ts";

type Options = { url?: string; appUrl?: string; model: string; pr?: number; local?: true };

export const addDoctor = (program: Command) =>
  program
    .command("doctor")
    .description("Look whether a call and a pull request go the whole way, and say what is wrong.")
    .option("--model <route>", "what the one call asks for", "echo")
    .option("--pr <number>", "this pull request instead of the branch's", parseCount)
    .option("--app-url <url>", "the GitHub App (HOST and GITHUB_APP_PORT)", parseUrl)
    .addOption(new Option("--local", "leave GitHub and the GitHub App out").conflicts(["pr", "appUrl"]))
    .option(...URL_OPTION)
    .addHelpText("after", HELP)
    .action(async (options: Options, command: Command) => {
      process.exitCode = await doctor(directoryOf(command), options);
    });

const HELP = `
Makes one call with TALLYGATE_KEY, recorded under its own session, and changes nothing else. With the
admin key it also reads the call's record, the settings and the pull request's state. Exits with 1 if something is wrong.`;

async function doctor(directory: string, options: Options): Promise<number> {
  const gateway: GatewayUnderTest = {
    url: gatewayUrl(options.url),
    client: readClientKey(),
    admin: readAdminKey(),
    model: options.model,
    session: newSession(),
  };
  let wrong = 0;
  for await (const finding of findings(directory, gateway, options)) {
    print(findingText(finding));
    if (finding.state === "failed") wrong++;
  }
  print(wrong === 0 ? "\nNothing is wrong." : `\n${wrong} ${wrong === 1 ? "thing is" : "things are"} wrong.`);
  return wrong === 0 ? 0 : 1;
}

async function* findings(
  directory: string,
  gateway: GatewayUnderTest,
  { appUrl, pr, local }: Options,
): AsyncGenerator<Finding> {
  const git = gitIn(directory);
  yield* gatewayFindings(gateway);
  yield await attemptCheck("The settings cannot be read.", () => stampingFinding(gateway));
  yield await attemptCheck("The checkout cannot be looked at.", () => branchFinding(git));
  yield await attemptCheck("Claude Code's settings cannot be read.", () => claudeFinding(directory));
  if (local) return;
  yield await appFinding(githubAppUrl(appUrl));
  try {
    const { url, admin } = gateway;
    yield* pullRequestFindings({ git, github: openGithub(directory, null), number: pr ?? null, url, admin });
  } catch (error) {
    yield await attemptCheck("The pull request cannot be looked at.", () => Promise.reject(error));
  }
}
