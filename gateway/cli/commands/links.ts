import type { Command } from "commander";
import { Email } from "#shared/admin/people.ts";
import { SetupLink } from "#shared/admin/setup-link.ts";
import { SignInLink } from "#shared/admin/sign-in-links.ts";
import { fits } from "#shared/schema.ts";
import { adminApi, expectShape } from "../client/api.ts";
import { parser, parseUrl, print, URL_OPTION } from "./common.ts";

export const addSetupLink = (program: Command) =>
  program
    .command("setup-link")
    .description("Print a one-time link to the GitHub App's set-up page, valid for 15 minutes.")
    .option("--app <url>", "the GitHub App (default: the address that it reports)", parseUrl)
    .option(...URL_OPTION)
    .action(setupLink);

async function setupLink(options: { app?: string; url?: string }): Promise<void> {
  const api = adminApi(options.url);
  const link = expectShape(SetupLink, await api.call("POST", "/admin/v1/setup-links"), "The link");
  print(options.app === undefined ? link.url : `${options.app.replace(/\/+$/, "")}${link.path}`);
}

export const addSignInLink = (program: Command) =>
  program
    .command("sign-in-link")
    .description("Print a one-time link that signs a person in, valid for 15 minutes.")
    .argument("[email]", "who signs in; optional while there is no administrator", parseEmail)
    .option(...URL_OPTION)
    .action(signInLink);

export const parseEmail = parser("An e-mail address is expected.", (text) =>
  fits(Email, text) ? text : null,
);

async function signInLink(email: string | undefined, options: { url?: string }): Promise<void> {
  const api = adminApi(options.url);
  const body = email === undefined ? {} : { email };
  const link = expectShape(SignInLink, await api.call("POST", "/admin/v1/sign-in-links", body), "The link");
  print(link.url);
}
