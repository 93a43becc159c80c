import { resolve } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { isHttpUrl } from "../client/settings.ts";

/** What a command is asked for, to standard output. */
export const print = (text: string): void => void process.stdout.write(`${text}\n`);

/** What a person should know besides, to standard error, where it spoils no output. */
export const printNote = (text: string): void => void process.stderr.write(`tallygate: ${text}\n`);

/** The directory that `-C` names, else the one that it was started in. */
export const directoryOf = (command: Command): string => {
  const { directory } = command.optsWithGlobals<{ directory?: string }>();
  return resolve(directory ?? ".");
};

/** An address, as commander's argument parsers take it. */
export function parseUrl(text: string): string {
  if (isHttpUrl(text)) return text;
  throw new InvalidArgumentError("An http or https URL is expected.");
}

/** The option that leads to another gateway than the settings name. */
export const URL_OPTION = [
  "--url <url>",
  "the gateway (TALLYGATE_URL, else PUBLIC_URL, else HOST and PORT)",
  parseUrl,
] as const;

/** A whole number of 1 or more, as commander's argument parsers take it. */
export function parseCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Expected a whole number.");
}

/** Names between commas, as commander's argument parsers take them. */
export const parseNames = (text: string): string[] =>
  text
    .split(",")
    .map((name) => name.trim())
    .filter(Boolean);
