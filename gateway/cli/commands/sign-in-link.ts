import { type Command, InvalidArgumentError } from "commander";
import { Email } from "#shared/admin/people.ts";
import { SignInLink } from "#shared/admin/sign-in-links.ts";
import { fits } from "#shared/schema.ts";
import { adminApi, expectShape } from "../client/api.ts";
import { print, URL_OPTION } from "./common.ts";

export const addSignInLink = (program: Command) =>
  program
    .command("sign-in-link")
    .description("A one-time link that signs a person in, valid for 15 minutes.")
    .argument("[email]", "who signs in; may be left out while there is no administrator", parseEmail)
    .option(...URL_OPTION)
    .action(signInLink);

function parseEmail(text: string): string {
  if (fits(Email, text)) return text;
  throw new InvalidArgumentError("An e-mail address is expected.");
}

async function signInLink(email: string | undefined, options: { url?: string }): Promise<void> {
  const api = adminApi(options.url);
  const body = email === undefined ? {} : { email };
  const link = expectShape(SignInLink, await api.call("POST", "/admin/v1/sign-in-links", body), "The link");
  print(link.url);
}
