import { join } from "node:path";
import { commandOf } from "../own-program.ts";
import { READERS } from "../stamping/agent-settings.ts";
import { gatewayOf } from "../stamping/agents-gateway.ts";
import { commandLine } from "../stamping/gateway-files.ts";
import {
  GEMINI_SIGN_IN,
  geminiSettings,
  requireQwenSignIn,
  withoutSignIn,
  withSignIn,
} from "../stamping/gemini-sign-in.ts";
import { DIRECTORIES } from "../stamping/hook-files.ts";
import {
  functionOf,
  profileBlocks,
  type ShellAgent,
  userShell,
  withBlock,
  withoutBlock,
} from "../stamping/shell-profiles.ts";
import { changeFile, HOMES, textOf } from "./change-file.ts";
import { print, printNote } from "./common.ts";

type Options = {
  /** The gateway of `tallygate login`. */
  url: string;
  /** Whether the shell's profile may be changed. */
  profile: boolean;
  isDry: boolean;
};

const NOTE = "# Written by `tallygate install`; `tallygate uninstall` removes it.";
/** In a block: the choice in Gemini CLI's settings is ours, too, and goes with the block. */
const CHOSE = "# tallygate also chose the sign-in in Gemini CLI's settings.";
const AFTERWARDS: Readonly<Record<ShellAgent, string>> = {
  gemini: "Open a new shell.",
  copilot: "Open a new shell, and choose a model: --model NAME, or COPILOT_MODEL.",
  qwen: "Open a new shell, and choose a model: --model NAME, or OPENAI_MODEL.",
};

/** Has the shell start an agent with `tallygate run`; false if its settings lead elsewhere, or a file could not be changed. */
export async function connectShell(name: ShellAgent, { url, profile, isDry }: Options): Promise<boolean> {
  const { address, source } = await READERS[name](null);
  if (address !== null && gatewayOf(address) !== url) {
    printNote(`${name}: ${source} names another gateway, and stays as it is.`);
    return false;
  }
  const command = commandLine([
    ...commandOf(join(import.meta.dir, "../tallygate.ts")),
    "run",
    "--quiet",
    "--",
    name,
  ]);
  const shell = profile ? userShell(HOMES) : null;
  if (shell === null) {
    print(`${name}: it takes a gateway from its environment only. Add to your shell's profile:`);
    print(`  ${functionOf({ name, command })}`);
    if (name === "gemini")
      print(`  In its settings, security.auth.selectedType is to be "${GEMINI_SIGN_IN}".`);
    return true;
  }
  const chooses = choosesSignIn(name);
  if (chooses === null) return false;
  const lines = [NOTE, ...(chooses ? [CHOSE] : []), shell.define({ name, command })];
  const isWritten = changeFile(name, {
    path: shell.path,
    edit: (text) => withBlock(text, name, lines),
    says: ["starts it with `tallygate run` already", "a function that starts it with `tallygate run` is in"],
    isDry,
    after: AFTERWARDS[name],
  });
  return isWritten && (!chooses || changeSignIn(withSignIn, isDry));
}

/** Whether the agent's sign-in is ours to choose, or was; null: its settings choose one that takes no address. */
function choosesSignIn(name: ShellAgent): boolean | null {
  if (name === "copilot") return false;
  const path = join(DIRECTORIES[name](HOMES), "settings.json");
  try {
    const text = textOf(path);
    if (name === "gemini")
      return withSignIn(text) !== text || profileBlocks(name, HOMES).some(({ body }) => body.includes(CHOSE));
    requireQwenSignIn(text);
    return false;
  } catch (error) {
    printNote(
      `${name}: ${path} was left as it is: ${error instanceof Error ? error.message : "it cannot be read"}.`,
    );
    return null;
  }
}

const changeSignIn = (edit: (text: string | null) => string | null, isDry: boolean): boolean =>
  changeFile("gemini", {
    path: geminiSettings(HOMES),
    edit,
    says: ["has the sign-in already", "the sign-in was changed in"],
    isDry,
    after: null,
  });

/** Takes an agent's functions out of all shells' profiles. */
export function disconnectShell(name: ShellAgent, isDry: boolean): boolean {
  const blocks = profileBlocks(name, HOMES);
  if (blocks.length === 0) print(`${name}: no shell's profile has a function of ours.`);
  const removed = blocks.map(({ path }) =>
    changeFile(name, {
      path,
      edit: (text) => withoutBlock(text, name),
      says: ["has no function of ours", "our function is out of"],
      isDry,
      after: null,
    }),
  );
  const chose = blocks.some(({ body }) => body.includes(CHOSE));
  return removed.every(Boolean) && (!chose || changeSignIn(withoutSignIn, isDry));
}
