import type { Command } from "commander";
import { SetupLink } from "#shared/admin/setup-link.ts";
import { adminApi, expectShape } from "../client/api.ts";
import { parseUrl, print, URL_OPTION } from "./common.ts";

export const addSetupLink = (program: Command) =>
  program
    .command("setup-link")
    .description("A one-time link to the GitHub App's set-up page, valid for 15 minutes.")
    .option("--app <url>", "the GitHub App (the gateway's host at GITHUB_APP_PORT)", parseUrl)
    .option(...URL_OPTION)
    .action(setupLink);

async function setupLink(options: { app?: string; url?: string }): Promise<void> {
  const api = adminApi(options.url);
  const link = expectShape(SetupLink, await api.call("POST", "/admin/v1/setup-links"), "The link");
  print(`${(options.app ?? appUrl(api.url)).replace(/\/+$/, "")}${link.path}`);
}

/** The App at its default port beside the gateway. */
function appUrl(gatewayUrl: string): string {
  const url = new URL(gatewayUrl);
  url.port = "8788";
  return url.origin;
}
