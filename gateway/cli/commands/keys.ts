import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { type Command, Option } from "commander";
import { BUDGET_PERIODS, KeyBody, RotateBody, UNPRICED_WORDS, WHEN_AWAY } from "#shared/admin/keys.ts";
import { picked } from "#shared/keys-of.ts";
import { faultsOf, nullable, open } from "#shared/schema.ts";
import { type Api, adminApi, expectShape, listAll } from "../client/api.ts";
import { tableText } from "../print/table.ts";
import { parseCount, parseNames, print, printJson, printNote, URL_OPTION } from "./common.ts";

/** The members of a key that these commands use. */
const Key = open({
  id: Type.String(),
  name: Type.String(),
  owner: nullable(Type.String()),
  team: nullable(Type.String()),
  status: Type.String(),
  scopes: open({}),
  secrets: Type.Array(open({ last_four: Type.String() })),
  expires_at: nullable(Type.String()),
});
type Key = Static<typeof Key>;
const NewKey = open({ id: Type.String(), name: Type.String(), secret: Type.String() });

type Common = { url?: string; json?: true };
type CreateOptions = Common & {
  owner?: string;
  service?: true;
  team?: string;
  routes?: string[];
  models?: string[];
  mcp?: string[];
  providers?: string[];
  reports?: true;
  expires?: string;
  requestsPerMinute?: number;
  tokensPerMinute?: number;
  concurrency?: number;
  budgetUsd?: string;
  budgetPeriod?: string;
  unpriced?: string;
  whenAway?: string;
};

const PATH = "/admin/v1/keys";
const JSON_OPTION = ["--json", "print JSON"] as const;

export const addKeys = (program: Command) => {
  const keys = program.command("keys").description("List, create, rotate and revoke client keys.");
  addCreate(keys);
  keys
    .command("list")
    .description("List the keys, newest first.")
    .option("--all", "include revoked keys")
    .option(...JSON_OPTION)
    .option(...URL_OPTION)
    .action((options: Common & { all?: true }) => list(options));
  keys
    .command("rotate")
    .description("Give a key a new secret, shown only once; its id stays the same.")
    .argument("<key>", "the key's name or id")
    .option("--grace <seconds>", "keep the old secret valid for this many seconds", parseCount)
    .option(...JSON_OPTION)
    .option(...URL_OPTION)
    .action(async (key: string, { url, json, grace }: Common & { grace?: number }, command: Command) => {
      const body = grace === undefined ? {} : { grace_seconds: grace };
      requireForm(RotateBody, body, command);
      const api = adminApi(url);
      const { id } = await findKey(api, key);
      show(await api.call("POST", `${PATH}/${id}/rotate`, body), json);
    });
  keys
    .command("revoke")
    .description(
      "Revoke a key, or all keys of a person, permanently. Effective everywhere within five seconds.",
    )
    .argument("[key]", "the key's name or id")
    .option("--owner <person>", "instead: all keys of this person, who may sign in and make new ones")
    .option(...URL_OPTION)
    .action(
      async (key: string | undefined, { url, owner }: Common & { owner?: string }, command: Command) => {
        if ((key === undefined) === (owner === undefined)) command.error("error: name a key, or --owner");
        const api = adminApi(url);
        const chosen = key === undefined ? await keysOfOwner(api, owner ?? "") : [await findKey(api, key)];
        for (const { id, name } of chosen) {
          await api.call("DELETE", `${PATH}/${id}`);
          printNote(`the key ${name} (${id}) is revoked.`);
        }
      },
    );
};

const addCreate = (keys: Command) =>
  keys
    .command("create")
    .description("Create a key. Its secret is printed to standard output, once.")
    .argument("<name>", "the name shown in reports")
    .option("--owner <person>", "the owner (default: none, a service account)")
    .option("--service", "a program's key, which does not read its owner's own records")
    .option("--team <name>", "the team that its calls count for (default: its owner's)")
    .option("--routes <names>", "allow only these routes, separated by commas", parseNames)
    .option("--models <globs>", "allow only these models, separated by commas", parseNames)
    .option("--mcp <names>", "allow only these tool servers, separated by commas", parseNames)
    .option("--providers <names>", "allow these providers' own addresses, separated by commas", parseNames)
    .option("--reports", "allow reading reports")
    .option("--expires <time>", "when the key expires: a date or an RFC 3339 time")
    .option("--requests-per-minute <n>", "limit calls per minute", parseCount)
    .option("--tokens-per-minute <n>", "limit input and output tokens per minute", parseCount)
    .option("--concurrency <n>", "limit concurrent calls", parseCount)
    .option("--budget-usd <amount>", "limit spending per period")
    .addOption(
      new Option("--budget-period <period>", "budget period, in UTC (default: month)").choices([
        ...BUDGET_PERIODS,
      ]),
    )
    .addOption(
      new Option(
        "--unpriced <mode>",
        "what the budget does with models without a price (default: refuse)",
      ).choices([...UNPRICED_WORDS]),
    )
    .addOption(
      new Option("--when-away <mode>", "while the database is unavailable: count locally, or refuse").choices(
        [...WHEN_AWAY],
      ),
    )
    .option(...JSON_OPTION)
    .option(...URL_OPTION)
    .addHelpText("after", "\n  export TALLYGATE_KEY=$(tallygate keys create ada --owner ada@example.com)")
    .action(async (name: string, options: CreateOptions, command: Command) => {
      const body = bodyOf(name, options);
      requireForm(KeyBody, body, command);
      show(await adminApi(options.url).call("POST", PATH, body), options.json);
    });

/** Ends the command if the admin API would refuse the body in any state. */
function requireForm(form: TSchema, body: object, command: Command): void {
  const [fault] = faultsOf(form, body);
  if (fault) command.error(`error: ${saidAt(fault.path)}: ${fault.message}`);
}

/** Members whose option name differs from their own. */
const OPTIONS: Readonly<Record<string, string>> = { expires_at: "expires", grace_seconds: "grace" };

/** The option behind a member of the body: `/limits/budget_usd` is `option '--budget-usd'`. */
function saidAt(pointer: string): string {
  const member = pointer.split("/").findLast((part) => /^[a-z_]+$/.test(part)) ?? "name";
  if (member === "name") return "argument 'name'";
  return `option '--${OPTIONS[member] ?? member.replaceAll("_", "-")}'`;
}

/** Omits what was not given: an absent scope is unlimited. */
function bodyOf(name: string, options: CreateOptions): object {
  const scopes = present(picked(options, ["routes", "models", "mcp", "providers", "reports"]));
  const limits = present({
    requests_per_minute: options.requestsPerMinute,
    tokens_per_minute: options.tokensPerMinute,
    concurrency: options.concurrency,
    budget_usd: options.budgetUsd,
    budget_period: options.budgetPeriod,
    unpriced: options.unpriced,
    when_away: options.whenAway,
  });
  return {
    name,
    ...present({ ...picked(options, ["owner", "service", "team"]), expires_at: options.expires }),
    ...(Object.keys(scopes).length > 0 && { scopes }),
    ...(Object.keys(limits).length > 0 && { limits }),
  };
}

const present = (members: Record<string, unknown>): object =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));

async function list({ url, json, all }: Common & { all?: true }): Promise<void> {
  const found = await listAll(adminApi(url), PATH, Key);
  const shown = found.filter(({ status }) => all || status !== "revoked");
  if (json) return printJson(shown);
  const rows = shown.map((key) => [
    key.name,
    key.owner ?? "(service account)",
    key.team ?? "",
    key.status,
    key.secrets.map(({ last_four: end }) => `…${end}`).join(" "),
    scopeText(key.scopes),
    key.expires_at ?? "",
    key.id,
  ]);
  print(
    tableText(["name", "owner", "team", "status", "secrets", "may use", "expires", "id"], rows, () => false),
  );
}

const scopeText = (scopes: object): string =>
  Object.entries(scopes)
    .map(([name, value]) => (Array.isArray(value) ? `${name}: ${value.join(" ") || "none"}` : name))
    .join("; ") || "everything";

/** @throws Error if the person has no valid key. */
async function keysOfOwner(api: Api, owner: string): Promise<Key[]> {
  const found = await listAll(api, `${PATH}?${new URLSearchParams({ owner })}`, Key);
  const valid = found.filter(({ status }) => status !== "revoked");
  if (valid.length > 0) return valid;
  throw new Error(`${owner} has no key that is not revoked. \`tallygate keys list\` shows owners.`);
}

async function findKey(api: Api, named: string): Promise<Key> {
  const keys = await listAll(api, PATH, Key);
  const key = keys.find(({ id, name }) => id === named || name === named);
  if (key) return key;
  throw new Error(`No key has the name or id ${named}. \`tallygate keys list --all\` shows them.`);
}

function show(answer: unknown, json: true | undefined): void {
  const key = expectShape(NewKey, answer, PATH);
  if (json) printJson(answer);
  else print(key.secret);
  printNote(`the secret of ${key.name} (${key.id}) is shown only once.`);
}
