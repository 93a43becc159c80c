import { readFileSync } from "node:fs";
import { OptionalKind, type Static, type TObject, type TSchema } from "@sinclair/typebox";
import { readFault } from "./error-code.ts";
import { counted } from "./plural.ts";
import { fits } from "./schema.ts";
import { JOINS, PROCESSES, SUPERVISED, TAKES_OVER } from "./stop-signal.ts";

/** Exit status of a process whose settings are wrong (`EX_CONFIG` of sysexits.h): starting it again will not help. */
export const CONFIGURATION_EXIT_CODE = 78;

/** The settings of a process are wrong; `faults` names every one, and never holds the value of a secret. */
export class ConfigurationError extends Error {
  override readonly name = "ConfigurationError";
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(
      `${counted(faults.length, "invalid setting")}:\n${faults.map((fault) => `  - ${fault}`).join("\n")}`,
    );
    this.faults = faults;
  }
}

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the settings that `schema` names from the environment, trimmed; an empty one counts as absent. Numbers and
 * truth values are converted as the schema's type says, then checked against it; `default` fills what is absent.
 * Of each member, `accepts` completes the sentence "accepted is …", and `secret: true` keeps its value out of faults.
 * @throws ConfigurationError with all faults at once, those of `more` (rules between settings) included.
 */
export function readEnv<T extends TObject>(
  schema: T,
  env: Environment = process.env,
  more: (isSet: (name: keyof Static<T> & string) => boolean) => string[] = () => [],
): Static<T> {
  const values: Record<string, unknown> = {};
  const faults: string[] = [];
  for (const [name, member] of Object.entries(schema.properties)) {
    const text = env[name]?.trim() ?? "";
    if (text !== "") {
      const value = convert(member, text);
      if (fits(member, value)) values[name] = value;
      else faults.push(faultOf(name, member, text));
    } else if (member.default !== undefined) values[name] = member.default;
    else if (!(OptionalKind in member)) faults.push(`${name} is missing; expected ${member["accepts"]}`);
  }
  faults.push(...more((name) => Boolean(env[name]?.trim())));
  if (faults.length > 0 || !fits(schema, values)) throw new ConfigurationError(faults);
  return values;
}

function convert(schema: TSchema, text: string): unknown {
  if (schema["type"] === "integer") return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
  if (schema["type"] === "boolean") return text === "true" || (text === "false" ? false : text);
  return text;
}

function faultOf(name: string, schema: TSchema, text: string): string {
  const shown = schema["secret"] ? "has an invalid value" : `is ${JSON.stringify(text.slice(0, 100))}`;
  return `${name} ${shown}; expected ${schema["accepts"]}`;
}

/** The variables of `names` that are set and not blank, e.g. the vendors' own names for their API keys. */
export function readPresent(names: readonly string[], env: Environment = process.env): Map<string, string> {
  const present = new Map<string, string>();
  for (const name of names) {
    const text = env[name]?.trim();
    if (text) present.set(name, text);
  }
  return present;
}

/** This process's environment for a child, with `changes` on top; a change to null takes a variable away. */
export function inheritedEnv(changes: Readonly<Record<string, string | null>>): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries({ ...process.env, ...changes })) {
    if (value !== undefined && value !== null) env[name] = value;
  }
  return env;
}

/** Whether this process is a child of the launcher (`stop-signal.ts`). */
export const isSupervised = (env: Environment = process.env): boolean => env[SUPERVISED] === "1";

/** Whether this process is to replace another one, which still runs. */
export const takesOver = (env: Environment = process.env): boolean => env[TAKES_OVER] === "1";

/** Settings that may be in a file instead, which `NAME_FILE` names: so containers and systemd pass secrets. */
const IN_FILES =
  /^((?:ADMIN|MASTER|PRIVATE|[A-Z0-9]+_API)_KEY|(?:WEBHOOK|OIDC_CLIENT|GITHUB_CLIENT)_SECRET|WEBHOOK_SECRET_PREVIOUS|(?:REPORTS_)?DATABASE_URL|CLICKHOUSE_URL)_FILE$/;

/**
 * Reads the files that `NAME_FILE` variables name into `NAME`, for this process and its children.
 * @throws ConfigurationError if both are set, or a file cannot be read.
 */
export function takeSecretFiles(env: Record<string, string | undefined>): void {
  const faults: string[] = [];
  for (const [variable, path] of Object.entries(env)) {
    const name = IN_FILES.exec(variable)?.[1];
    if (name === undefined || !path?.trim()) continue;
    if (env[name]?.trim()) faults.push(`${name} and ${variable} are both set; accepted is one of them`);
    else {
      try {
        env[name] = readFileSync(path.trim(), "utf8").trim();
        delete env[variable];
      } catch (error) {
        faults.push(`${variable} names a file that cannot be read: ${readFault(error)}`);
      }
    }
  }
  if (faults.length > 0) throw new ConfigurationError(faults);
}

/** Whether this process joins others of its program that already serve. */
export const joins = (env: Environment = process.env): boolean => env[JOINS] === "1";

/** How many processes of its program share the work, this one included. */
export const processesOf = (env: Environment = process.env): number => Number(env[PROCESSES] ?? 1);

/** The settings, or the end of the process: all faults go to standard error, one a line. */
export function settingsOrExit<T>(read: () => T, exitCode = CONFIGURATION_EXIT_CODE): T {
  try {
    takeSecretFiles(process.env);
    return read();
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(exitCode);
  }
}
