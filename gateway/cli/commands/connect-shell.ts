import { join } from "node:path";
import type { ShellFunction } from "../agents/agent.ts";
import { AGENTS, type AgentName } from "../agents/agents.ts";
import { gatewayOf } from "../agents/agents-gateway.ts";
import { HOMES } from "../agents/homes.ts";
import { requireSignIn, withoutSignIn, withSignIn } from "../agents/json-settings.ts";
import { commandLine } from "../agents/key-command.ts";
import { functionOf, profileBlocks, userShell, withBlock, withoutBlock } from "../agents/shell-profiles.ts";
import { commandOf } from "../own-program.ts";
import { changeFile, textOf } from "./change-file.ts";
import { print, printNote } from "./common.ts";

/** An agent that a function of the shell starts with `tallygate run`. */
type ShellAgent = ShellFunction & { name: AgentName; isDry: boolean };

type Options = {
  /** The gateway of `tallygate login`. */
  url: string;
  /** Whether the shell's profile may be changed. */
  profile: boolean;
};

const NOTE = "# Written by `tallygate install`; `tallygate uninstall` removes it.";
/** In a block: the choice in the agent's settings is ours, too, and goes with the block. */
const choseIn = (name: AgentName): string =>
  `# tallygate also chose the sign-in in ${AGENTS[name].title}'s settings.`;

/** Has the shell start an agent with `tallygate run`; false if its settings lead elsewhere, or a file could not be changed. */
export async function connectShell(agent: ShellAgent, { url, profile }: Options): Promise<boolean> {
  const { name, signIn, isDry, afterwards } = agent;
  const { address, source } = await AGENTS[name].settings(HOMES, null);
  if (address !== null && gatewayOf(address) !== url) {
    printNote(`${name}: ${source} names another gateway and was left unchanged.`);
    return false;
  }
  const words = [...commandOf(join(import.meta.dir, "../tallygate.ts")), "run", "--quiet", "--", name];
  const command = commandLine(words);
  const shell = profile ? userShell(HOMES) : null;
  if (shell === null) {
    print(`${name}: it reads the gateway only from its environment. Add this to your shell's profile:`);
    print(`  ${functionOf({ name, command })}`);
    if (signIn?.isChosen) print(`  In its settings, set security.auth.selectedType to "${signIn.type}".`);
    return true;
  }
  const chooses = choosesSignIn(agent);
  if (chooses === null) return false;
  const lines = [NOTE, ...(chooses ? [choseIn(name)] : []), shell.define({ name, command })];
  const isWritten = changeFile(name, {
    path: shell.path,
    edit: (text) => withBlock(text, name, lines),
    says: ["starts it with `tallygate run` already", "a function that starts it with `tallygate run` is in"],
    isDry,
    after: afterwards,
  });
  return isWritten && (!chooses || changeSignIn(agent, withSignIn));
}

const settingsOf = (name: AgentName): string => join(AGENTS[name].directory(HOMES), "settings.json");

/** Whether the agent's sign-in is ours to choose, or was; null: its settings choose one that takes no address. */
function choosesSignIn({ name, signIn }: ShellAgent): boolean | null {
  if (!signIn) return false;
  const path = settingsOf(name);
  try {
    const text = textOf(path);
    requireSignIn(text, signIn.type);
    return signIn.isChosen && (withSignIn(text, signIn.type) !== text || choseSignIn(name));
  } catch (error) {
    printNote(
      `${name}: ${path} was left unchanged: ${error instanceof Error ? error.message : "it cannot be read"}.`,
    );
    return null;
  }
}

const choseSignIn = (name: AgentName): boolean =>
  profileBlocks(name, HOMES).some(({ body }) => body.includes(choseIn(name)));

function changeSignIn(
  { name, signIn, isDry }: ShellAgent,
  edit: (text: string | null, type: string) => string | null,
): boolean {
  return changeFile(name, {
    path: settingsOf(name),
    edit: (text) => edit(text, signIn?.type ?? ""),
    says: ["has the sign-in already", "the sign-in was changed in"],
    isDry,
  });
}

/** Takes an agent's functions out of all shells' profiles. */
export function disconnectShell(agent: ShellAgent): boolean {
  const { name, isDry } = agent;
  const chose = choseSignIn(name);
  const blocks = profileBlocks(name, HOMES);
  if (blocks.length === 0) print(`${name}: no shell profile has a function of Tallygate's.`);
  const removed = blocks.map(({ path }) =>
    changeFile(name, {
      path,
      edit: (text) => withoutBlock(text, name),
      says: ["has no function of ours", "our function is out of"],
      isDry,
    }),
  );
  return removed.every(Boolean) && (!chose || changeSignIn(agent, withoutSignIn));
}
