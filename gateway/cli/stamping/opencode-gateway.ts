import { Type } from "@sinclair/typebox";
import { fits, open } from "#shared/schema.ts";
import { OPENCODE_PROVIDER } from "../agents/variables.ts";
import { type Login, readLogin } from "../client/login.ts";

/** The part of opencode's settings that this plugin changes, as they are in memory. */
type Settings = { provider?: Record<string, object> };

/** The part of opencode's hooks that this plugin uses. */
type Hooks = { config(settings: Settings): Promise<void> };

const Models = open({ data: Type.Array(open({ id: Type.String() })) });
const ANSWER_MS_MAX = 5_000;

/** The models that the key may use; none while the gateway is away. */
async function modelsOf({ url, key }: Login): Promise<string[]> {
  const answer = await fetch(`${url}/v1/models`, {
    redirect: "error",
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
    headers: { authorization: `Bearer ${key}` },
  });
  const listed: unknown = answer.ok ? await answer.json() : null;
  return fits(Models, listed) ? listed.data.map(({ id }) => id) : [];
}

/** An opencode plugin: the logged-in gateway as a provider, read at each start. One of this name in settings is kept. */
export const connecting = async (): Promise<Hooks> => ({
  config: async (settings) => {
    const login = await Promise.try(readLogin).catch(() => null);
    if (login === null || settings.provider?.[OPENCODE_PROVIDER]) return;
    const models = await modelsOf(login).catch(() => []);
    settings.provider = {
      ...settings.provider,
      [OPENCODE_PROVIDER]: {
        npm: "@ai-sdk/openai-compatible",
        name: "Tallygate",
        options: { baseURL: `${login.url}/v1`, apiKey: login.key },
        models: Object.fromEntries(models.map((id) => [id, { name: id }])),
      },
    };
  },
});
