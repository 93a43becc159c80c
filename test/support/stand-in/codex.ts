/**
 * What `codex app-server` says of the hooks in its user's hooks.json, and the agreements that it keeps in config.toml, as far
 * as `tallygate` asks. test/agents/codex-hook.test.ts has Codex itself.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

type Message = { id?: number; method: string; params?: { edits?: Edit[] } };
type Edit = { value: Record<string, { trusted_hash: string; enabled: boolean }> };
type Group = { hooks: { command: string }[] };

const HOOKS = join(homedir(), ".codex/hooks.json");
const CONFIG = join(homedir(), ".codex/config.toml");
const textOf = (path: string): string => (existsSync(path) ? readFileSync(path, "utf8") : "");

function hooks() {
  const groups: Group[] = JSON.parse(textOf(HOOKS) || "{}").hooks?.PostToolUse ?? [];
  return groups.flatMap(({ hooks: all }, group) =>
    all.map(({ command }, at) => {
      const key = `${HOOKS}:post_tool_use:${group}:${at}`;
      const currentHash = `sha256:${Bun.hash(command).toString(16)}`;
      const isTrusted = textOf(CONFIG).includes(
        `[hooks.state."${key}"]\nenabled = true\ntrusted_hash = "${currentHash}"`,
      );
      return { key, command, currentHash, enabled: true, trustStatus: isTrusted ? "trusted" : "untrusted" };
    }),
  );
}

function resultOf({ method, params }: Message): object {
  if (method === "hooks/list") return { data: [{ hooks: hooks() }] };
  for (const { value } of params?.edits ?? []) {
    for (const [key, { trusted_hash, enabled }] of Object.entries(value)) {
      const state = textOf(CONFIG).includes("[hooks.state]") ? "" : "[hooks.state]\n";
      appendFileSync(
        CONFIG,
        `${state}\n[hooks.state."${key}"]\nenabled = ${enabled}\ntrusted_hash = "${trusted_hash}"\n`,
      );
    }
  }
  return {};
}

for await (const line of console) {
  const message: Message = JSON.parse(line);
  if (message.id !== undefined)
    process.stdout.write(`${JSON.stringify({ id: message.id, result: resultOf(message) })}\n`);
}
