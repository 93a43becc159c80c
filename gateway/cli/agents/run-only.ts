import { join, resolve } from "node:path";
import { isRecord } from "#shared/json.ts";
import type { Additions, Agent, Run } from "./agent.ts";
import { takeFlag } from "./flags.ts";
import { SESSION_HEADER } from "./headers.ts";
import { fileText } from "./homes.ts";
import { parsedJsonc } from "./json-settings.ts";

// Agents that `run` can give a session and nothing else: they have no hook of ours. Each takes headers from a file, so a run
// gives it a copy of its own file that has the session too.

export type RunOnly = Pick<Agent, "title" | "names" | "run">;

/** Source: https://aider.chat/docs/config/adv-model-settings.html#global-extra-params */
const AIDER: RunOnly = { title: "aider", names: ["aider", "aider-chat"], run: runAider };
/** Source: https://docs.continue.dev/reference#models */
const CONTINUE: RunOnly = { title: "Continue", names: ["cn", "@continuedev/cli"], run: runContinue };
/** Source: https://docs.factory.ai/model-independence/byok */
const DROID: RunOnly = { title: "Droid", names: ["droid", "@factory/cli"], run: runDroid };

export const RUN_ONLY: readonly RunOnly[] = [AIDER, CONTINUE, DROID];

type Members = Record<string, unknown>;

/** Their user agents do not name them reliably, so the client is given, too. */
const headersOf = (session: string, client: string) => ({ [SESSION_HEADER]: session, "x-client": client });

const GLOBAL = "aider/extra_params";
const SETTINGS = ".aider.model.settings.yml";

async function runAider({ session, homes, directory, words, gateway }: Run): Promise<Additions> {
  const { given, others } = takeFlag(words ?? [], "--model-settings-file");
  const named = given ?? homes.env("AIDER_MODEL_SETTINGS_FILE");
  const own = named === undefined ? [] : await modelsIn(resolve(directory, named));
  const usual = await Promise.all([homes.home, directory].map((it) => modelsIn(join(it, SETTINGS))));
  const globals = [...usual.flat(), ...own].filter(({ name }) => name === GLOBAL);
  const params: Members = Object.assign({}, ...globals.map((it) => recordOf(it["extra_params"])));
  const headers = { ...recordOf(params["extra_headers"]), ...headersOf(session, "aider") };
  const all = { name: GLOBAL, extra_params: { ...params, extra_headers: headers } };
  const isLed = gateway && !homes.env("OPENAI_API_BASE");
  return {
    args: others,
    ...(isLed && { env: { OPENAI_API_BASE: `${gateway.url}/v1`, OPENAI_API_KEY: gateway.key } }),
    file: {
      text: async () => JSON.stringify([...own.filter(({ name }) => name !== GLOBAL), all]),
      tell: (path) => ({ args: ["--model-settings-file", path] }),
    },
  };
}

async function runContinue({ session, homes, directory, words }: Run): Promise<Additions> {
  const { given, others } = takeFlag(words ?? [], "--config");
  const path = given === null ? join(homes.home, ".continue/config.yaml") : resolve(directory, given);
  const config = recordOf(yamlIn(await fileText(path)));
  const models = membersOf(config["models"]);
  if (models.length === 0 || models.some((it) => it["uses"] !== undefined)) {
    return {
      note: notCarried("Continue", `${path} has models of its own only if it names each with its provider`),
    };
  }
  const withSession = (model: Members) => {
    const options = recordOf(model["requestOptions"]);
    const headers = { ...recordOf(options["headers"]), ...headersOf(session, "continue") };
    return { ...model, requestOptions: { ...options, headers } };
  };
  return {
    args: others,
    file: {
      name: "config.yaml",
      text: async () => JSON.stringify({ ...config, models: models.map(withSession) }),
      tell: (it) => ({ args: ["--config", it] }),
    },
  };
}

async function runDroid({ session, homes, directory, words }: Run): Promise<Additions> {
  const { given, others } = takeFlag(words ?? [], "--settings");
  const home = homes.env("FACTORY_HOME_OVERRIDE") ?? homes.home;
  const places = [home, directory].map((it) => join(it, ".factory/settings.json"));
  const files = await Promise.all([...places, ...(given ? [resolve(directory, given)] : [])].map(settingsIn));
  const models = membersOf(files.findLast((it) => it["customModels"] !== undefined)?.["customModels"]);
  if (models.length === 0) {
    return { note: notCarried("Droid", "it has no customModels, and Factory's own models pass no gateway") };
  }
  const withSession = (model: Members) => ({
    ...model,
    extraHeaders: { ...recordOf(model["extraHeaders"]), ...headersOf(session, "droid") },
  });
  const own = given === null ? {} : files.at(-1);
  return {
    args: others,
    file: {
      text: async () => JSON.stringify({ ...own, customModels: models.map(withSession) }),
      tell: (path) => ({ args: ["--settings", path] }),
    },
  };
}

const notCarried = (title: string, why: string): string =>
  `${title}'s calls do not carry this session, and count for no pull request: ${why}.`;

const modelsIn = async (path: string): Promise<Members[]> => membersOf(yamlIn(await fileText(path)));

const settingsIn = async (path: string): Promise<Members> => parsedJsonc(await fileText(path));

/** A file that cannot be read has nothing: the agent itself reports it. */
function yamlIn(text: string): unknown {
  try {
    return Bun.YAML.parse(text);
  } catch {
    return null;
  }
}

const recordOf = (value: unknown): Members => (isRecord(value) ? value : {});
const membersOf = (value: unknown): Members[] => (Array.isArray(value) ? value.filter(isRecord) : []);
