import { join } from "node:path";
import { isRecord, parsedJson } from "#shared/json.ts";
import { DIRECTORIES, type Homes } from "./hook-files.ts";
import { jsonText, withMember } from "./hook-groups.ts";
import { QWEN_SIGN_IN } from "./run-settings.ts";

/** The kind of sign-in with which Gemini CLI takes its address and its key from the environment. */
export const GEMINI_SIGN_IN = "gemini-api-key";

export const geminiSettings = (homes: Homes): string => join(DIRECTORIES.gemini(homes), "settings.json");

function parts(text: string | null) {
  const settings = text?.trim() ? parsedJson(text) : {};
  if (!isRecord(settings)) throw new Error("the file is no object");
  const security = isRecord(settings["security"]) ? settings["security"] : {};
  const auth = isRecord(security["auth"]) ? security["auth"] : {};
  return { settings, security, auth };
}

/** Qwen Code's settings have the same form. @throws Error for those with which it does not take address and key from the environment. */
export function requireQwenSignIn(text: string | null): void {
  const { selectedType: chosen = QWEN_SIGN_IN } = parts(text).auth;
  if (chosen !== QWEN_SIGN_IN) throw signsInBy(chosen);
}

const signsInBy = (chosen: unknown) => new Error(`it signs in by ${JSON.stringify(chosen)} already`);

/**
 * Settings of Gemini CLI that choose this sign-in: their own text if they do already.
 * @throws Error for settings that choose another one.
 */
export function withSignIn(text: string | null): string {
  const { settings, security, auth } = parts(text);
  const { selectedType: chosen } = auth;
  if (text !== null && chosen === GEMINI_SIGN_IN) return text;
  if (chosen !== undefined) throw signsInBy(chosen);
  const next = { ...security, auth: { ...auth, selectedType: GEMINI_SIGN_IN } };
  return jsonText({ ...settings, security: next }, text);
}

/** Settings without this choice; null means no file. */
export function withoutSignIn(text: string | null): string | null {
  const { settings, security, auth } = parts(text);
  const { selectedType: chosen, ...others } = auth;
  if (chosen !== GEMINI_SIGN_IN) return text;
  const next = withMember(settings, "security", withMember(security, "auth", others));
  return Object.keys(next).length === 0 ? null : jsonText(next, text);
}
