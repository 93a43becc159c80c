import { type StrictChat, strictChat } from "./strict-chat.ts";
import { type StrictClaude, strictClaude } from "./strict-claude.ts";
import { type StrictGemini, strictGemini } from "./strict-gemini.ts";
import { type StrictOpenAi, strictOpenAi } from "./strict-openai.ts";
import { type WiredGateway, wiredGateway } from "./wired-gateway.ts";

/** What every model says once it has the results of its tools. */
export const ANSWER = "It rains.";

/** A model of each vendor, with the tokens that its stand-in bills for each request. */
const BILLED = {
  "gpt-5.6-terra": [10, 5],
  "gpt-5.3-codex": [10, 5],
  "claude-opus-4-6": [21, 8],
  "gemini-3-pro-preview": [10, 5],
  "kimi-k2-thinking": [10, 5],
  "deepseek-v4": [10, 5],
  "anthropic/claude-opus-4.6": [10, 5],
} as const satisfies Readonly<Record<string, readonly [input: number, output: number]>>;
export type VendorModel = keyof typeof BILLED;
export const MODELS = Object.keys(BILLED) as VendorModel[];
const USD = { input: 3, output: 7 };

/** The vendor's bill for so many answers, in US dollars. */
export const billOf = (model: VendorModel, answers: number): number => {
  const [input, output] = BILLED[model];
  return ((input * USD.input + output * USD.output) * answers) / 1_000_000;
};

/** OpenAI's chat completions say once that these models are reached by responses. */
const ABOUT_WIRES = /\/v1\/(?:responses|chat\/completions)/;
/** What vendors say of a call whose client lost the thoughts. */
export const LOST_THOUGHTS =
  /missing a thought_signature|reasoning_content(?: is missing|.* must be passed back)/;

export type VendorModels = {
  gateway: WiredGateway;
  vendor: StrictOpenAi;
  claude: StrictClaude;
  google: StrictGemini;
  chat: StrictChat;
  forget(): void;
  /** Why vendors refused calls since `forget`, but those of the wire that they came on. */
  refused(): string[];
  /** All that was sent to them since `forget`. */
  asked(): string;
  /** How many calls they answered since `forget`, all of which they bill. */
  answered(): number;
};

/** A gateway with a stand-in of each vendor, which refuses what the vendor refuses, calls a tool twice at once, and then answers. */
export async function vendorModels(): Promise<VendorModels> {
  const [vendor, claude, google] = [strictOpenAi(), strictClaude(), strictGemini()];
  const chat = strictChat({ parallel: 2 });
  const gateway = await wiredGateway({ chat: `${vendor.url}/v1`, messages: claude.url });
  for (const [kind, base_url, models] of [
    ["gemini", google.url, "gemini-*"],
    ["moonshot", `${chat.url}/moonshot`, "kimi-*"],
    ["deepseek", `${chat.url}/deepseek`, "deepseek-*"],
    ["openrouter", `${chat.url}/openrouter`, "anthropic/*"],
  ]) {
    const reachable = { credential: "vendor-credential", allow_private_network: true };
    await gateway.admin("PUT", `/providers/${kind}`, { kind, base_url, models: [models], ...reachable });
  }
  // What Gemini CLI makes of it.
  for (const model of [...MODELS, "gemini-3.1-pro-preview"]) {
    const price = { input: String(USD.input), output: String(USD.output) };
    await gateway.admin("POST", "/prices", { model, effective_from: "2020-01-01", ...price });
  }
  const stands = [vendor, claude, google, chat];
  let called = 0;
  const refused = () => stands.flatMap((one) => one.refused);
  return {
    gateway,
    vendor,
    claude,
    google,
    chat,
    forget() {
      for (const one of [vendor, google, chat]) one.forget();
      claude.play(({ messages, tools = [] }) => {
        const weather = tools.find((tool) => "name" in tool && tool.name.endsWith("weather"));
        const said = messages.findLast(({ role }) => role === "assistant");
        return JSON.stringify(said ?? "").includes("tool_use") || !weather || !("name" in weather)
          ? [{ text: ANSWER }]
          : ["Oslo", "Bergen"].map((city) => ({
              call: weather.name,
              id: `toolu_${++called}`,
              input: { city },
            }));
      });
    },
    refused: () => refused().filter((text) => !ABOUT_WIRES.test(text)),
    asked: () => JSON.stringify([vendor.requests, claude.seen, google.requests, chat.requests]),
    answered: () =>
      vendor.paths.length +
      claude.seen.length +
      google.requests.length +
      chat.requests.length -
      refused().length,
  };
}
