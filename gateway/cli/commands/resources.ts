import { Type } from "@sinclair/typebox";
import { type Command, InvalidArgumentError, Option } from "commander";
import { parse } from "yaml";
import { isRecord } from "#shared/json.ts";
import { csvRows } from "../../bills/csv.ts";
import { RESOURCE_KINDS, type ResourceKind, type ResourceKindName } from "../apply/kinds.ts";
import { adminApi, listAll } from "../client/api.ts";
import { answerText } from "../print/answer-text.ts";
import { applyText } from "./apply.ts";
import { print, printAs, printData, readNamed, URL_OPTION } from "./common.ts";

/** One address of the admin API as a command. */
type Ask = {
  about: string;
  /** Below /admin/v1; `{id}` is an argument. */
  path: string;
  method?: "POST";
  /** Options with their meaning: members of the query, or of a POST's body. */
  takes?: Readonly<Record<string, string>>;
};
type Given = { url?: string; json?: true; dryRun?: true };

const ROOT = "/admin/v1";
const change = (id: string, about: string, takes = {}): Ask => ({
  about,
  takes,
  method: "POST",
  path: `/prices/changes/{id}/${id}`,
});

/** Groups of commands: the resources of a settings file, and what else the API says of them. */
const GROUPS = {
  seats: {
    about: "List and change subscriptions of people, such as Claude Max or Copilot.",
    example: "person=ada@example.com vendor=claude plan=Max monthly_usd=100 effective_from=2026-11-01",
    asks: {
      use: {
        about: "Show the seats of a month, and who uses their seat.",
        path: "/seats/use",
        takes: { month: "such as 2026-11 (default: this month)", person: "one person's e-mail" },
      },
    },
  },
  commitments: {
    about: "List and change commitments, provisioned throughput and prepaid credits.",
    example:
      "name=opus kind=credit provider=anthropic amount_usd=5000 effective_from=2026-11-01 effective_to=2027-11-01",
    asks: { use: { about: "Show what they covered, and what is left.", path: "/commitments/use" } },
  },
  discounts: {
    about: "List and change what contracts take off the list prices.",
    example: "provider=openai percent=12.5 models='[gpt-5*]' effective_from=2026-11-01",
    asks: {},
  },
  prices: {
    about: "List and change your own prices, and decide about changes of the price list.",
    example: "model=qwen3-coder input=0.20 output=0.80 effective_from=2026-01-01",
    asks: {
      "in-force": {
        about: "Show what the models in use cost on a day.",
        path: "/prices/in-force",
        takes: { on: "the day (default: today)" },
      },
      unpriced: { about: "List models of the last 7 days without a price.", path: "/prices/unpriced" },
      refresh: {
        about: "Fetch the public price list (PRICES_URL) now.",
        path: "/prices/refresh",
        method: "POST",
      },
      changes: { about: "List what is new or changed in the price list.", path: "/prices/changes" },
      approve: change("approve", "Approve a changed price.", { effective_from: "from when (default: now)" }),
      dismiss: change("dismiss", "Dismiss a changed price."),
    },
  },
  "vendor-accounts": {
    about: "List and change accounts with vendors, whose bills are compared with what was metered.",
    example: `acme vendor=anthropic credential='\${ANTHROPIC_ADMIN_KEY}'`,
    asks: {},
  },
  "export-destination": {
    about: "Show and change the bucket that gets each day's FOCUS rows.",
    example: `endpoint=https://s3.example.com bucket=costs access_key_id=AK secret_access_key='\${S3_SECRET}'`,
    asks: {
      run: { about: "Upload the next day that is due now.", path: "/export/destination/run", method: "POST" },
    },
  },
} as const satisfies Partial<
  Record<ResourceKindName, { about: string; example: string; asks: Readonly<Record<string, Ask>> }>
>;

/** Commands of their own. */
const ASKS = {
  statement: {
    about: "Print a month's cost by team or cost centre; for a closed month, as of its closing.",
    path: "/statements?month={month}",
    takes: {
      by: "team (default) or cost_center",
      version: "that of an earlier closing",
      format: "json (default) or csv",
    },
  },
  forecast: {
    about: "Print what the current period is expected to cost.",
    path: "/forecast",
    takes: {
      team: "a team",
      person: "a person's e-mail",
      key: "a key",
      budget: "a budget",
      period: "day, week, month or quarter",
    },
  },
  anomalies: {
    about: "List days on which a team, a model or a key cost far more than usual, and why.",
    path: "/anomalies",
    takes: { days: "how many days, today included (default: 7)" },
  },
} as const satisfies Readonly<Record<string, Ask>>;

export const addGroup = (name: keyof typeof GROUPS) => (program: Command) => {
  const { about, example, asks } = GROUPS[name];
  const group = program.command(name).description(about);
  const { path, shape }: ResourceKind = RESOURCE_KINDS[name];
  const words = name.replaceAll("-", " ");
  addAsk(group, shape === "single" ? "show" : "list", { about: `Show the ${words}.`, path });
  addChanges(group, name, `\n  tallygate ${name} set ${example}`);
  for (const [word, ask] of Object.entries(asks)) addAsk(group, word, ask);
};

export const addOne = (name: keyof typeof ASKS) => (program: Command) => addAsk(program, name, ASKS[name]);

/** Adds `set`, `remove` and, for a list, `import`: what `apply` does with a file. */
export function addChanges(group: Command, kind: ResourceKindName, example: string): void {
  const { path, shape }: ResourceKind = RESOURCE_KINDS[kind];
  const apply = async (text: string, named: string, { dryRun, url }: Given) =>
    applyText(text, named, { ...(dryRun && { dryRun }), ...(url && { url }) });
  const changing = (word: string, about: string) =>
    group
      .command(word)
      .description(about)
      .option("--dry-run", "print what would change, and change nothing")
      .option(...URL_OPTION);
  const words = kind.replaceAll("-", " ");
  const one =
    shape === "single" ? `the ${words}` : `${/^[aeiou]/.test(words) ? "an" : "a"} ${words.slice(0, -1)}`;
  const set = changing("set", `Create ${one}, or change the members that you name.`);
  if (shape === "named") set.argument("<name>", "its name");
  set
    .argument("<member=value...>", "members as in the admin API; [a, b] is a list", parseMember)
    .addHelpText("after", `\nA credential is a variable's name, such as '\${NAME}'.\n${example}`)
    .action((...given: unknown[]) => {
      // The declared arguments come first, then the options.
      const [name, members, options] = (shape === "named" ? given : ["", ...given]) as [
        string,
        object,
        Given,
      ];
      const body = { named: { [name]: members }, listed: [members], single: members }[shape];
      return apply(JSON.stringify({ [kind]: body }), "arguments", options);
    });
  if (shape === "listed") {
    changing(
      "import",
      `Create or change the ${words} of a CSV file, whose columns have the names of members.`,
    )
      .argument("<file>", "CSV")
      .action(async (file: string, options: Given) => {
        const rows = [...csvRows(await readNamed(file))].map((row) =>
          Object.fromEntries(
            Object.entries(row).flatMap(([name, text]) => (text === "" ? [] : [[name, memberValue(text)]])),
          ),
        );
        // A row has the line that it has in the file.
        const lines = rows.map((row) => JSON.stringify(row)).join(",\n");
        await apply(`{"${kind}":[\n${lines}]}`, file, options);
      });
  }
  const remove = group.command("remove").description(`Delete ${one}.`);
  if (shape !== "single") remove.argument("<id>", shape === "named" ? "its name" : "its id");
  remove.option(...URL_OPTION).action(async (...given: unknown[]) => {
    const [id, { url }] = (shape === "single" ? [null, ...given] : given) as [string | null, Given];
    await adminApi(url).call("DELETE", `${ROOT}${path}${id === null ? "" : `/${encodeURIComponent(id)}`}`);
    print("Deleted.");
  });
}

/** Adds a command that asks one address of the admin API. A `list` is asked for page by page. */
export function addAsk(group: Command, word: string, { about, path, method, takes = {} }: Ask): void {
  const command = group.command(word).description(about);
  const argument = /\{(\w+)\}/.exec(path);
  if (argument) command.argument(`<${argument[1]}>`);
  const options = Object.entries(takes).map(([name, meaning]) => {
    const option = new Option(`--${name.replaceAll("_", "-")} <${name}>`, meaning);
    command.addOption(option);
    return { name, as: option.attributeName() };
  });
  command
    .option("--json", "print JSON")
    .option(...URL_OPTION)
    .action(async (...given: unknown[]) => {
      // The declared argument comes first, then the options.
      const [value, all] = (argument ? given : ["", ...given]) as [string, Given & Record<string, string>];
      const asked = options.flatMap(({ name, as }) => (all[as] === undefined ? [] : [[name, all[as]]]));
      const [address = "", fixed] = `${ROOT}${path.replace(/\{\w+\}/, encodeURIComponent(value))}`.split("?");
      const members: Record<string, string> = Object.fromEntries(asked);
      const query = new URLSearchParams({ ...Object.fromEntries(new URLSearchParams(fixed)), ...members });
      const api = adminApi(all.url);
      const at = !method && `${query}` !== "" ? `${address}?${query}` : address;
      if (members["format"] === "csv") return printData((await api.text("GET", at)).trimEnd());
      const answer =
        word === "list"
          ? { data: await listAll(api, at, Type.Unknown()) }
          : await api.call(method ?? "GET", at, method && members);
      printAs(all.json, answer, answerText);
    });
}

type Members = Record<string, unknown>;

function parseMember(text: string, others: Members | undefined): Members {
  const [, name = "", value = ""] = /^([a-z_0-9]+)=(.*)$/s.exec(text) ?? [];
  if (!name) throw new InvalidArgumentError("Expected member=value.");
  return { ...others, [name]: memberValue(value) };
}

/** Lists and objects are written as YAML; an amount stays text, so that it is exact. */
function memberValue(text: string): unknown {
  if (!/^[[{]|^(?:true|false|null)$/.test(text)) return text;
  const value: unknown = parse(text);
  return isRecord(value) || Array.isArray(value) || typeof value !== "object" ? value : null;
}
