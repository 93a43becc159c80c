import { chmodSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { readPresent } from "#shared/env.ts";
import { parsedJson } from "#shared/json.ts";
import { closed, fits } from "#shared/schema.ts";
import { readSecretFile, writeSecretFile } from "#shared/secret-file.ts";
import { isClientKeyForm } from "../../stores/client-secret.ts";

/** What `tallygate login` keeps. */
const Login = closed({
  /** The gateway's address, without a trailing slash. */
  url: Type.String({ minLength: 1 }),
  /** A client key of the person. */
  key: Type.String(),
  email: Type.Union([Type.String(), Type.Null()]),
});
export type Login = Static<typeof Login>;

/** Where the system keeps a user's settings; variables that name no absolute directory do not count. */
function settingsDirectory(): string {
  const named = (name: string): string | null => {
    const value = readPresent([name]).get(name);
    return value !== undefined && isAbsolute(value) ? value : null;
  };
  if (process.platform === "win32") return named("APPDATA") ?? join(homedir(), "AppData/Roaming");
  if (process.platform === "darwin") return join(homedir(), "Library/Application Support");
  return named("XDG_CONFIG_HOME") ?? join(homedir(), ".config");
}

const directory = (): string => join(settingsDirectory(), "tallygate");

export const loginFile = (): string => join(directory(), "login.json");

/** The login that is kept, or null. @throws Error if the file is damaged. */
export function readLogin(): Login | null {
  const text = readSecretFile(loginFile());
  if (text === null) return null;
  const login = parsedJson(text);
  if (fits(Login, login) && isClientKeyForm(login.key)) return login;
  throw new Error(`${loginFile()} is damaged. Delete it, then run \`tallygate login\` again.`);
}

/** Keeps a login for this user alone, in place of the one before. */
export function writeLogin(login: Login): void {
  mkdirSync(directory(), { recursive: true, mode: 0o700 });
  if (process.platform !== "win32") chmodSync(directory(), 0o700);
  writeSecretFile(loginFile(), JSON.stringify(login));
}

export function removeLogin(): void {
  if (existsSync(loginFile())) rmSync(loginFile());
}
