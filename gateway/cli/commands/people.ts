import { Type } from "@sinclair/typebox";
import type { Command } from "commander";
import { pageOf } from "#shared/admin/fields.ts";
import { nullable, open } from "#shared/schema.ts";
import { adminApi, expectShape } from "../client/api.ts";
import { printNote, URL_OPTION } from "./common.ts";
import { parseEmail } from "./links.ts";

const People = pageOf(open({ id: Type.String() }));
const Accounts = open({
  data: Type.Array(
    open({
      id: Type.String(),
      way: Type.String(),
      issuer: nullable(Type.String()),
      account_id: Type.String(),
    }),
  ),
});

const PATH = "/admin/v1/people";

export const addPeople = (program: Command) =>
  program
    .command("people")
    .description("The people who sign in.")
    .command("unlink")
    .description(
      "Unlink a person's accounts at identity providers and end their sessions. The next verified sign-in with their e-mail links again.",
    )
    .argument("<email>", "whose accounts", parseEmail)
    .option("--way <name>", "only accounts of this way: oidc, saml or github")
    .option(...URL_OPTION)
    .action(unlink);

async function unlink(email: string, { way, url }: { way?: string; url?: string }): Promise<void> {
  const api = adminApi(url);
  const found = await api.call("GET", `${PATH}?${new URLSearchParams({ email })}`);
  const [person] = expectShape(People, found, PATH).data;
  if (!person) throw new Error(`No person has the e-mail ${email}.`);
  const path = `${PATH}/${person.id}/accounts`;
  const accounts = expectShape(Accounts, await api.call("GET", path), path).data;
  const chosen = accounts.filter((it) => way === undefined || it.way === way);
  if (chosen.length === 0) throw new Error(`${email} has no linked account${way ? ` of ${way}` : ""}.`);
  for (const it of chosen) {
    await api.call("DELETE", `${path}/${it.id}`);
    printNote(`unlinked ${it.way} ${it.account_id} at ${it.issuer ?? "an unknown issuer"}.`);
  }
}
