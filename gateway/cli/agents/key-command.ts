import { isClientKeyForm } from "../../stores/client-secret.ts";
import { readLogin } from "../client/login.ts";
import { RUN } from "../own-program.ts";

export const commandLine = (words: readonly string[]): string => words.map(quoted).join(" ");

const quoted = (word: string): string =>
  /^[A-Za-z0-9_./:=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** What asks us for a gateway's key: the program, wherever it is, and the gateway. */
export type KeyCommand = { program: string; url: string };

const KEY_COMMAND = new RegExp(`(?:(\\S+) ${RUN} )?(\\S*\\btallygate(?:\\.ts)?)'? key --url '?([^\\s']+)'?$`);

/** What a command line asks for a gateway's key; null if it is not ours. */
export function keyCommandOf(line: unknown): KeyCommand | null {
  const [, compiled, script, url] = (typeof line === "string" && KEY_COMMAND.exec(line)) || [];
  const program = compiled ?? script;
  return program && url ? { program, url } : null;
}

/** The first client key among credentials, else the one that our command prints, which is not run. */
export function clientKeyAmong(
  credentials: readonly (string | null | undefined)[],
  command: KeyCommand | null = null,
): string | null {
  const found = credentials.find((text) => isClientKeyForm(text ?? ""));
  if (found) return found;
  const login = command && readLogin();
  return login?.url === command?.url ? (login?.key ?? null) : null;
}
