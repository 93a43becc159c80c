import type { Command } from "commander";
import { readLogin, removeLogin } from "../client/login.ts";
import { revokeAt } from "../client/oauth.ts";
import { print, printNote } from "./common.ts";

export const addLogout = (program: Command) =>
  program
    .command("logout")
    .description("Revoke the key of `tallygate login` at the gateway, and forget it.")
    .addHelpText(
      "after",
      "\nIf the gateway does not answer, the key is forgotten here, and the exit status is 1.",
    )
    .action(async () => {
      process.exitCode = await logout();
    });

async function logout(): Promise<number> {
  const login = readLogin();
  if (login === null) {
    printNote("nobody is logged in here.");
    return 0;
  }
  const { url, key, email } = login;
  const isRevoked = await revokeAt(url, key);
  removeLogin();
  if (isRevoked) {
    print(`Logged out of ${url}. The key${email === null ? "" : ` of ${email}`} is revoked.`);
    return 0;
  }
  print("The key is forgotten here.");
  printNote(
    `${url} did not revoke it, so it is still valid there. Revoke the one that ends in ${key.slice(-4)}:\n${url}/me`,
  );
  return 1;
}
