import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { keysOf } from "#shared/keys-of.ts";
import { readLogin } from "../client/login.ts";
import { RUN } from "../own-program.ts";
import type { AgentSettings } from "./agent.ts";
import type { Homes } from "./homes.ts";

type Shell = {
  /** The file that the shell reads at the start of an interactive session; null where none is surely read. */
  profile(homes: Homes): string | null;
  /** A function that replaces the agent's command. */
  define(name: string, command: string): string;
};

// `function` keeps an alias of the same name from being expanded there.
const define: Shell["define"] = (name, command) => `function ${name} { ${command} "$@"; }`;

const SHELLS = {
  bash: {
    profile: ({ home }) => {
      if (process.platform !== "darwin") return join(home, ".bashrc");
      // Terminals of macOS start login shells. A new file of this name would hide a ~/.profile.
      const path = join(home, ".bash_profile");
      return existsSync(path) ? path : null;
    },
    define,
  },
  zsh: { profile: ({ home, env }) => join(env("ZDOTDIR") ?? home, ".zshrc"), define },
  fish: {
    profile: ({ home, env }) =>
      join(env("XDG_CONFIG_HOME") ?? join(home, ".config"), "fish/conf.d/tallygate.fish"),
    define: (name, command) => `function ${name}; ${command} $argv; end`,
  },
} as const satisfies Record<string, Shell>;

/** What a shell is to run instead of the agent. */
type ShellCall = { name: string; command: string };

/** An agent's function, as bash, zsh and most other shells have it. */
export const functionOf = ({ name, command }: ShellCall): string => define(name, command);

/** The user's shell; null if its profile is unknown. */
export function userShell(homes: Homes): { path: string; define(call: ShellCall): string } | null {
  const program = homes.env("SHELL")?.split("/").at(-1);
  const known = keysOf(SHELLS).find((it) => it === program);
  const shell: Shell | null = known ? SHELLS[known] : null;
  const path = shell?.profile(homes) ?? null;
  return shell && path ? { path, define: ({ name, command }) => shell.define(name, command) } : null;
}

const OPENING = "# >>> tallygate:";
const edgesOf = (name: string) => [`${OPENING} ${name} >>>`, `# <<< tallygate: ${name} <<<`] as const;

/** The line feed before the block, and the block's lines. */
function blockOf(name: string): RegExp {
  const [first, last] = edgesOf(name);
  return new RegExp(`(^|\\n)${first}\\n([^]*?)${last}\\n`);
}

/** A profile's text with an agent's block of these lines at its end. What else is there stays, byte for byte. */
export function withBlock(text: string | null, name: string, lines: readonly string[]): string {
  const [first, last] = edgesOf(name);
  const block = `${[first, ...lines, last].join("\n")}\n`;
  if (text?.includes(block)) return text;
  const others = withoutBlock(text, name);
  return others === null ? block : `${others}\n${block}`;
}

/** A profile's text as it was without an agent's block; null means no file. */
export function withoutBlock(text: string | null, name: string): string | null {
  const found = blockOf(name).exec(text ?? "");
  if (text === null || found === null) return text;
  const before = text.slice(0, found.index);
  const after = text.slice(found.index + found[0].length);
  if (found[1] === "") {
    // The file began with it.
    return after === "" ? null : after.startsWith(`\n${OPENING}`) ? after.slice(1) : after;
  }
  // The line feed before it ended a last line that had none: it stays if a line follows.
  const isEnded = before === "" || before.endsWith("\n") || after === "" || after.startsWith("\n");
  return `${before}${isEnded ? "" : "\n"}${after}`;
}

/** An agent's block in a profile: its file, its lines, and the program that its function runs. */
type Block = { path: string; body: string; program: string | null };

const PROGRAM = new RegExp(`'?([^\\s']+)'?(?: ${RUN} \\S+)? run --quiet -- `);

export function profileBlocks(name: string, homes: Homes): Block[] {
  return keysOf(SHELLS).flatMap((shell) => {
    const path = SHELLS[shell].profile(homes);
    const text = path !== null && existsSync(path) ? readFileSync(path, "utf8") : "";
    const body = blockOf(name).exec(text)?.[2];
    return path === null || body === undefined
      ? []
      : [{ path, body, program: PROGRAM.exec(body)?.[1] ?? null }];
  });
}

/** Where a function leads an agent: `tallygate run` takes address, key and session from the login and the branch. */
export function ledByFunction(name: string, homes: Homes): AgentSettings | null {
  const [block] = profileBlocks(name, homes);
  const login = block ? readLogin() : null;
  if (!block || login === null) return null;
  const keyCommand = block.program === null ? null : { program: block.program, url: login.url };
  return { address: login.url, key: login.key, keyCommand, source: block.path };
}
