import type { Command } from "commander";
import { readLogin } from "../client/login.ts";
import { print } from "./common.ts";

export const addKey = (program: Command) =>
  program
    .command("key")
    .description("Print the client key of `tallygate login`, for agents that ask a command for their key.")
    .option("--url <url>", "only if it is the key of this gateway")
    .addHelpText(
      "after",
      "\n`tallygate install` writes this command into the settings of Claude Code and Codex.",
    )
    .action(({ url }: { url?: string }) => {
      const login = readLogin();
      if (login === null) throw new Error("This computer is not signed in. Run `tallygate login`.");
      if (url !== undefined && url !== login.url) {
        throw new Error(
          `This computer is signed in at ${login.url}, not at ${url}. Run \`tallygate install\`.`,
        );
      }
      print(login.key);
    });
