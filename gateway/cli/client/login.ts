import { chmodSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { parsedJson } from "#shared/json.ts";
import { closed, fits } from "#shared/schema.ts";
import { readSecretFile, writeSecretFile } from "#shared/secret-file.ts";
import { isClientKeyForm } from "../../stores/client-secret.ts";
import { ownDirectory } from "./settings-directory.ts";

/** What `tallygate login` keeps. */
const Login = closed({
  /** The gateway's address, without a trailing slash. */
  url: Type.String({ minLength: 1 }),
  /** A client key of the person. */
  key: Type.String(),
  email: Type.Union([Type.String(), Type.Null()]),
});
export type Login = Static<typeof Login>;

export const loginFile = (): string => join(ownDirectory(), "login.json");

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
  mkdirSync(ownDirectory(), { recursive: true, mode: 0o700 });
  if (process.platform !== "win32") chmodSync(ownDirectory(), 0o700);
  writeSecretFile(loginFile(), JSON.stringify(login));
}

export function removeLogin(): void {
  if (existsSync(loginFile())) rmSync(loginFile());
}
