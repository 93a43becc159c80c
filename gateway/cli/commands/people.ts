import { Type } from "@sinclair/typebox";
import type { Command } from "commander";
import { pageOf } from "#shared/admin/fields.ts";
import { nullable, open } from "#shared/schema.ts";
import { adminApi, expectShape, listAll } from "../client/api.ts";
import { tableText } from "../print/table.ts";
import { print, printJson, printNote, URL_OPTION } from "./common.ts";
import { parseEmail } from "./links.ts";

const Person = open({
  id: Type.String(),
  email: Type.String(),
  name: Type.String(),
  role: Type.String(),
  team: nullable(Type.String()),
  budget_usd: nullable(Type.String()),
  budget_period: nullable(Type.String()),
  github_login: nullable(Type.String()),
  disabled: Type.Boolean(),
});
const People = pageOf(Person);
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

export const addPeople = (program: Command) => {
  const people = program
    .command("people")
    .description("List the people who sign in, and unlink their accounts.");
  people
    .command("list")
    .description("List the people, with their roles, teams and budgets.")
    .option("--all", "include disabled people")
    .option("--json", "print JSON")
    .option(...URL_OPTION)
    .action(list);
  people
    .command("unlink")
    .description(
      "Unlink a person's accounts at identity providers and end their sessions. The next verified sign-in with their e-mail links again.",
    )
    .argument("<email>", "whose accounts", parseEmail)
    .option("--way <name>", "only accounts of this way: oidc, saml or github")
    .option(...URL_OPTION)
    .action(unlink);
};

async function list({ url, all, json }: { url?: string; all?: true; json?: true }): Promise<void> {
  const found = await listAll(adminApi(url), PATH, Person);
  const shown = found.filter(({ disabled }) => all || !disabled);
  if (json) return printJson(shown);
  const rows = shown.map(({ email, name, role, team, disabled, ...it }) => [
    email,
    name,
    disabled ? "disabled" : role,
    team ?? "",
    it.budget_usd === null ? "" : `$${it.budget_usd} a ${it.budget_period ?? "month"}`,
    it.github_login ?? "",
  ]);
  print(tableText(["e-mail", "name", "role", "team", "budget", "GitHub"], rows, () => false));
}

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
