import { Type } from "@sinclair/typebox";
import { inheritedEnv } from "#shared/env.ts";
import { parsedJson } from "#shared/json.ts";
import { fits, oneOf, open } from "#shared/schema.ts";
import { HOOK_SCRIPT } from "./json-settings.ts";

// Codex runs a hook only after its user has agreed to this very command. `codex exec` never asks. Its app server says what
// was agreed to, and keeps a new agreement.

const Hook = open({
  key: Type.String(),
  command: Type.Optional(Type.String()),
  enabled: Type.Boolean(),
  currentHash: Type.String(),
  trustStatus: oneOf(["managed", "untrusted", "trusted", "modified"] as const),
});
const Listed = open({ data: Type.Array(open({ hooks: Type.Array(Hook) })) });

export type CodexHook = typeof Hook.static;

const ANSWER_MS_MAX = 30_000;

/** Our hooks as Codex sees them; null if Codex is not installed, or too old to say. */
export async function codexHooks(directory: string): Promise<CodexHook[] | null> {
  const [listed] = (await askCodex(directory, [["hooks/list", { cwds: [directory] }]])) ?? [];
  if (!fits(Listed, listed)) return null;
  return listed.data.flatMap(({ hooks }) => hooks.filter(({ command }) => command?.includes(HOOK_SCRIPT)));
}

export const runsHook = ({ enabled, trustStatus }: CodexHook): boolean =>
  enabled && (trustStatus === "trusted" || trustStatus === "managed");

/** Agrees to our hooks in the user's place, and returns them; null if Codex is not installed, or too old. */
export async function trustCodexHooks(directory: string): Promise<CodexHook[] | null> {
  const hooks = await codexHooks(directory);
  if (hooks === null || hooks.every(runsHook)) return hooks;
  const value = Object.fromEntries(
    hooks.map(({ key, currentHash }) => [key, { trusted_hash: currentHash, enabled: true }]),
  );
  const edits = [{ keyPath: "hooks.state", value, mergeStrategy: "upsert" }];
  await askCodex(directory, [["config/batchWrite", { edits }]]);
  return await codexHooks(directory);
}

type Question = readonly [method: string, params: object];
/** Codex's answers, in order; null if it does not answer all of them. An error is answered with undefined. */
async function askCodex(directory: string, questions: readonly Question[]): Promise<unknown[] | null> {
  const env = inheritedEnv({});
  const program = Bun.which("codex", { PATH: env["PATH"] ?? "" });
  if (program === null) return null;
  const child = Bun.spawn([program, "app-server"], {
    cwd: directory,
    env,
    stdin: "pipe",
    stdout: "pipe",
    stderr: "ignore",
    timeout: ANSWER_MS_MAX,
  });
  try {
    const clientInfo = { name: "tallygate", version: "0" };
    const messages = [
      { id: 0, method: "initialize", params: { clientInfo } },
      { method: "initialized" },
      ...questions.map(([method, params], index) => ({ id: index + 1, method, params })),
    ];
    const asked = messages.map((message) => `${JSON.stringify(message)}\n`).join("");
    const write = async () => {
      await child.stdin.write(asked);
      await child.stdin.flush();
    };
    // A Codex without an app server ends before it has read this, and answers nothing.
    await write().catch(() => undefined);
    return await answersIn(child.stdout, questions.length);
  } finally {
    child.kill();
    await child.exited;
  }
}

const Answer = open({ id: Type.Integer(), result: Type.Optional(Type.Unknown()) });

async function answersIn(output: ReadableStream<Uint8Array>, count: number): Promise<unknown[] | null> {
  const answers = new Map<number, unknown>();
  let rest = "";
  const decoder = new TextDecoder();
  for await (const bytes of output) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const message of lines.map(parsedJson)) {
      if (fits(Answer, message) && message.id > 0) answers.set(message.id, message.result);
    }
    if (answers.size === count) return [...answers].sort(([a], [b]) => a - b).map(([, result]) => result);
  }
  return null;
}
