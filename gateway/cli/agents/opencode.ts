import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { isRecord } from "#shared/json.ts";
import { readLogin } from "../client/login.ts";
import { exportOf } from "../own-program.ts";
import type { Additions, Agent, AgentSettings, Checkout, Run } from "./agent.ts";
import { sessionAmong } from "./headers.ts";
import { fileText, type Homes } from "./homes.ts";
import { parsedJsonc } from "./json-settings.ts";
import { clientKeyAmong } from "./key-command.ts";
import { OPENCODE_PROVIDER } from "./variables.ts";

/** Its plugins are files of ours, which its own files name: they stay where they are. */
const plugin = (name: string): string => join(import.meta.dir, `../stamping/opencode-${name}.ts`);
const RUN_PLUGIN = "OPENCODE_CONFIG_CONTENT";

const directory = ({ home, env }: Homes): string =>
  join(env("XDG_CONFIG_HOME") ?? join(home, ".config"), "opencode");
const gatewayPlugin = (homes: Homes): string => join(directory(homes), "plugin", "tallygate-gateway.js");

export const OPENCODE = {
  title: "opencode",
  names: ["opencode", "opencode-ai"],
  directory,
  run,
  settings,
  lead: (url) => `give opencode.json a provider with the options baseURL "${url}/v1" and apiKey`,
  isLedBySettings: true,
  hook: {
    path: (homes) => join(directory(homes), "plugin", "tallygate.js"),
    edit: (_, command) => command && exportOf("stamping", plugin("hook")),
  },
  gateway: {
    path: gatewayPlugin,
    edit: (_, connection) => connection && exportOf("connecting", plugin("gateway")),
    afterwards: "Choose a model of the provider Tallygate (/models, or --model tallygate/NAME).",
  },
} as const satisfies Agent;

/** Settings that opencode merges over its files, with the plugin added. Invalid JSON is left for the caller to fix. */
function run({ homes: { env } }: Run): Additions {
  const present: unknown = JSON.parse(env(RUN_PLUGIN) || "{}");
  const given = isRecord(present) ? present : {};
  const plugins = Array.isArray(given["plugin"]) ? given["plugin"] : [];
  const ours = pathToFileURL(plugin("plugin")).href;
  const all = { ...given, plugin: [...plugins.filter((it) => it !== ours), ours] };
  return { env: { [RUN_PLUGIN]: JSON.stringify(all) } };
}

const textOf = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

async function settings(homes: Homes, place: Checkout | null): Promise<AgentSettings> {
  const config = await configOf(homes, place);
  const [chosen = ""] = (textOf(config["model"]) ?? "").split("/", 1);
  const all = isRecord(config["provider"]) ? config["provider"] : {};
  // Without a chosen model it is the user's choice at each start: the first that names an address.
  const names = chosen === "" ? Object.keys(all) : [chosen];
  const found = names
    .map((name) => [name, optionsOf(all[name])] as const)
    .find(([, it]) => it["baseURL"] !== undefined);
  const [name, options] = found ?? [chosen, {}];
  const isOurs = chosen === OPENCODE_PROVIDER || (chosen === "" && found === undefined);
  const login = isOurs && existsSync(gatewayPlugin(homes)) ? readLogin() : null;
  if (login !== null && found === undefined) {
    return { address: login.url, key: login.key, source: gatewayPlugin(homes) };
  }
  const headers = Object.entries(isRecord(options["headers"]) ? options["headers"] : {});
  const key =
    (await substituted(textOf(options["apiKey"]), homes, place?.directory ?? homes.home)) ??
    (await keptKey(name, homes));
  return {
    address: textOf(options["baseURL"]),
    key: clientKeyAmong([key]),
    fixedSession: sessionAmong(headers.map((header) => header.join(":")).join("\n")),
    source: join(directory(homes), "opencode.json"),
  };
}

const optionsOf = (provider: unknown): Record<string, unknown> =>
  isRecord(provider) && isRecord(provider["options"]) ? provider["options"] : {};

/** Its settings, of which later files replace members of earlier ones. */
async function configOf(homes: Homes, place: Checkout | null): Promise<Record<string, unknown>> {
  const root = place && ((await place.git("rev-parse", "--show-toplevel")) ?? place.directory);
  const given = homes.env("OPENCODE_CONFIG");
  const directories = [directory(homes), ...(place && root ? [root, place.directory] : [])];
  const paths = directories.flatMap((it) =>
    ["opencode.json", "opencode.jsonc"].map((name) => join(it, name)),
  );
  const texts = await Promise.all([...paths, ...(given ? [resolve(given)] : [])].map(fileText));
  const all = [...texts, homes.env(RUN_PLUGIN) ?? ""].map(parsedJsonc);
  const providers = all.map(({ provider }) => (isRecord(provider) ? provider : {}));
  return { ...Object.assign({}, ...all), provider: Object.assign({}, ...providers) };
}

/** `{env:NAME}` and `{file:path}` in its settings. */
async function substituted(text: string | null, { home, env }: Homes, from: string): Promise<string | null> {
  const [, kind, name = ""] = /^\{(env|file):([^}]+)\}$/.exec(text ?? "") ?? [];
  if (kind === "env") return env(name) ?? null;
  if (kind === "file") return (await fileText(resolve(from, name.replace(/^~/, home)))).trim();
  return text;
}

/** The key that `opencode auth login` keeps for a provider. */
async function keptKey(provider: string, { home, env }: Homes): Promise<string | null> {
  const data = env("XDG_DATA_HOME") ?? join(home, ".local/share");
  const login = parsedJsonc(await fileText(join(data, "opencode/auth.json")))[provider];
  return isRecord(login) ? textOf(login["key"]) : null;
}
