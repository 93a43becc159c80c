import { resolve } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { isHttpUrl } from "../client/settings.ts";

/** Writes a command's result to standard output. */
export const print = (text: string): void => void process.stdout.write(`${text}\n`);

/** Writes notes to standard error, so that output can be piped. */
export const printNote = (text: string): void => void process.stderr.write(`tallygate: ${text}\n`);

/** The directory named with `-C`, else the current one. */
export const directoryOf = (command: Command): string => {
  const { directory } = command.optsWithGlobals<{ directory?: string }>();
  return resolve(directory ?? ".");
};

/** Argument parser for a URL. */
export function parseUrl(text: string): string {
  if (isHttpUrl(text)) return text;
  throw new InvalidArgumentError("An http or https URL is expected.");
}

/** The option that selects a gateway other than the one in the settings. */
export const URL_OPTION = [
  "--url <url>",
  "the gateway (TALLYGATE_URL, else PUBLIC_URL, else HOST and PORT)",
  parseUrl,
] as const;

/** Argument parser for an integer of 1 or more. */
export function parseCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Expected a whole number.");
}

/** Argument parser for comma-separated names. */
export const parseNames = (text: string): string[] =>
  text
    .split(",")
    .map((name) => name.trim())
    .filter(Boolean);
