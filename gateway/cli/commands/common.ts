import { access, constants, readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { readInstant } from "#shared/admin/fields.ts";
import { readFault } from "#shared/error-code.ts";
import { isHttpUrl } from "../client/settings.ts";
import { printableJson, printableText } from "../print/printable.ts";

/** Writes a command's result to standard output. What a server said in it moves no cursor and hides no text. */
export const print = (text: string): void => void process.stdout.write(`${printableText(text)}\n`);

export const printJson = (value: unknown): void => print(printableJson(value));
/** Writes a result as `--json` asks for it, or as text for people. */
export const printAs = <T>(json: boolean | undefined, value: T, text: (value: T) => string): void =>
  json ? printJson(value) : print(text(value));

/** Writes data as it is into a file or a pipe, and like any other text to a terminal. */
export const printData = (text: string): void =>
  process.stdout.isTTY ? print(text) : void process.stdout.write(`${text}\n`);

const SHOWN = new TextDecoder();

/** Writes a part of long data, waiting for slow readers. Terminals get no control characters. False: no one reads on. */
export const writeData = (part: Uint8Array): Promise<boolean> =>
  new Promise((resolve) => {
    const shown = process.stdout.isTTY ? printableText(SHOWN.decode(part, { stream: true })) : part;
    process.stdout.write(shown, (error) => resolve(!error));
  });

/** Writes notes to standard error, so that output can be piped. */
export const printNote = (text: string): void =>
  void process.stderr.write(`tallygate: ${printableText(text)}\n`);

/** The directory named with `-C`, else the current one. */
export const directoryOf = (command: Command): string => {
  const { directory } = command.optsWithGlobals<{ directory?: string }>();
  return resolve(directory ?? ".");
};

/** An argument parser that refuses, with `fault`, a text of which `read` makes nothing. */
export const parser =
  <T>(fault: string, read: (text: string) => T | null) =>
  (text: string): T => {
    const value = read(text);
    if (value === null) throw new InvalidArgumentError(fault);
    return value;
  };

const urlIn = (text: string): string | null => (isHttpUrl(text) ? text : null);
export const parseUrl = parser("An http or https URL is expected.", urlIn);

/** The option that selects a gateway other than the one in the settings. */
export const URL_OPTION = [
  "--url <url>",
  "the gateway (TALLYGATE_URL, else PUBLIC_URL, else HOST and PORT)",
  parseUrl,
] as const;

export const parseInstant = parser("Expected a date such as 2026-01-31, or an RFC 3339 time.", (text) =>
  readInstant(text) === null ? null : text,
);

const unreadable = (file: string) => (error: unknown) => {
  throw new Error(`${file} cannot be read: ${readFault(error)}.`, { cause: error });
};

/** A file that the command line names, as text. @throws Error with the cause. */
export const readNamed = (file: string): Promise<string> => readFile(file, "utf8").catch(unreadable(file));

/** @throws Error with the cause, if the file that the command line names cannot be read. */
export const requireReadable = (file: string): Promise<void> =>
  access(file, constants.R_OK).catch(unreadable(file));

/** An integer of 1 or more. */
export const parseCount = parser("Expected a whole number.", (text) =>
  /^[1-9]\d{0,8}$/.test(text) ? Number(text) : null,
);

export type Filter = { name: string; value: string };

/** Argument parser for `name=value`, which may be given several times. */
export function parseFilters(text: string, others: Filter[] = []): Filter[] {
  const [, name, value] = /^([a-z_]+)=(.+)$/s.exec(text) ?? [];
  if (!name || !value) throw new InvalidArgumentError("Expected name=value.");
  return [...others, { name, value }];
}

/** Argument parser for comma-separated names. */
export const parseNames = (text: string): string[] =>
  text
    .split(",")
    .map((name) => name.trim())
    .filter(Boolean);
