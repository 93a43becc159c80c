import { Argument, type Command } from "commander";
import { print } from "./common.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];

export const addCompletion = (program: Command) =>
  program
    .command("completion")
    .description("Print a completion script for your shell.")
    .addArgument(new Argument("<shell>").choices(SHELLS))
    .addHelpText(
      "after",
      '\n  bash, zsh: eval "$(tallygate completion bash)" in ~/.bashrc or ~/.zshrc\n  fish: tallygate completion fish | source',
    )
    .action((shell: Shell) => print(scriptOf(shell, placesOf(program, []))));

/** A command's path, and the words that may follow it. */
type Place = { path: readonly string[]; words: readonly string[] };

/** Every command, deepest first, so that the first match is the most specific. */
function placesOf(command: Command, path: readonly string[]): Place[] {
  const options = command.options.flatMap(({ long }) => (long ? [long] : []));
  const commands = command.commands.map((it) => it.name());
  const below = command.commands.flatMap((it) => placesOf(it, [...path, it.name()]));
  return [...below, { path, words: [...commands, ...options, "--help"] }];
}

function scriptOf(shell: Shell, places: readonly Place[]): string {
  if (shell === "fish") return places.map(fishLine).join("\n");
  const cases = places.map(({ path, words }) => `    "${path.join(" ")}"*) words="${words.join(" ")}" ;;`);
  return [
    ...(shell === "zsh" ? ["autoload -U +X bashcompinit && bashcompinit"] : []),
    "_tallygate() {",
    '  local path="" word words=""',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: shell syntax
    '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do case "$word" in -*) ;; *) path="$path$word " ;; esac; done',
    '  case "$path" in',
    ...cases,
    "  esac",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: shell syntax
    '  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))',
    "}",
    "complete -o default -F _tallygate tallygate",
  ].join("\n");
}

const fishLine = ({ path, words }: Place): string => {
  const condition =
    path.length === 0
      ? "__fish_use_subcommand"
      : path.map((word) => `__fish_seen_subcommand_from ${word}`).join("; and ");
  return `complete -c tallygate -n '${condition}' -a '${words.join(" ")}'`;
};
