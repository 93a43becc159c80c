import { isRecord, parsedJson } from "#shared/json.ts";

// How agents' settings in JSON are changed, and changed back.

type Members = Record<string, unknown>;

/** @throws Error for a text that is no object. */
export function settingsIn(text: string | null): Members {
  return objectOf(text?.trim() ? parsedJson(text) : {}, "the file");
}

/** The object in JSON with comments; empty if it cannot be read, which the agent itself reports. */
export function parsedJsonc(text: string): Members {
  try {
    const value: unknown = text.trim() ? Bun.JSONC.parse(text) : {};
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

function objectOf(value: unknown, what: string): Members {
  if (isRecord(value)) return value;
  throw new Error(`${what} is no object`);
}

/** The object with this member, or without it if it would be empty. */
export function withMember(members: Members, name: string, value: object): Members {
  const { [name]: _, ...others } = members;
  return Object.keys(value).length > 0 ? { ...members, [name]: value } : others;
}

/** In the form of the text before, so that a change and its removal give the same text again. */
export function jsonText(value: object, before: string | null = null): string {
  if (!before?.trim()) return `${JSON.stringify(value, null, 2)}\n`;
  const indent = /^\s*\{\r?\n([ \t]+)/.exec(before)?.[1] ?? "";
  const end = /\s*$/.exec(before)?.[0] ?? "";
  return `${JSON.stringify(value, null, indent)}${end}`;
}

/** The text of changed settings: null for empty ones, and the user's own text and format if nothing changed. */
export function changedText(next: Members, settings: Members, text: string | null): string | null {
  if (Object.keys(next).length === 0) return null;
  return text !== null && Bun.deepEquals(next, settings) ? text : jsonText(next, text);
}

type HookGroup = { matcher: string; hooks: object[] };

/** The script of our hooks: it identifies them, wherever the checkout is. */
export const HOOK_SCRIPT = "stamp-hook.ts";

/** Tools of GitHub's own MCP server, whatever name the agent gives the server. */
export const REQUEST_TOOLS = "mcp__.*pull_request.*";
export const HOOK_SECONDS = 60;

export const hookGroup = (matcher: string, command: string): HookGroup => ({
  matcher,
  hooks: [{ type: "command", command, timeout: HOOK_SECONDS }],
});

/**
 * An editor for settings with hooks grouped by matcher below `hooks.<event>`, the format that Claude Code introduced:
 * our groups are replaced by those that `make` returns for the command, or removed with a null command; everything else
 * is kept.
 * @throws Error for a text of another form.
 */
export const editGroups =
  (events: readonly string[], make: (command: string) => HookGroup[]) =>
  (text: string | null, command: string | null): string | null => {
    const settings = settingsIn(text);
    let hooks = objectOf(settings["hooks"] ?? {}, "hooks");
    for (const event of events) {
      const groups = hooks[event] ?? [];
      if (!Array.isArray(groups)) throw new Error(`hooks.${event} is not a list`);
      const others = groups.filter((it) => !JSON.stringify(it).includes(HOOK_SCRIPT));
      const ours = command === null ? [] : make(command);
      hooks = withMember(hooks, event, [...others, ...ours]);
    }
    return changedText(withMember(settings, "hooks", hooks), settings, text);
  };

function signInOf(text: string | null) {
  const settings = settingsIn(text);
  const security = isRecord(settings["security"]) ? settings["security"] : {};
  const auth = isRecord(security["auth"]) ? security["auth"] : {};
  return { settings, security, auth, chosen: auth["selectedType"] };
}

/** @throws Error for settings that choose another sign-in than this one. */
export function requireSignIn(text: string | null, type: string): void {
  const { chosen = type } = signInOf(text);
  if (chosen !== type) throw new Error(`it already signs in with ${JSON.stringify(chosen)}`);
}

/** Settings that choose this sign-in: their own text if they do already. @throws Error for those that choose another one. */
export function withSignIn(text: string | null, type: string): string {
  requireSignIn(text, type);
  const { settings, security, auth, chosen } = signInOf(text);
  if (text !== null && chosen === type) return text;
  return jsonText({ ...settings, security: { ...security, auth: { ...auth, selectedType: type } } }, text);
}

/** Settings without this choice; null means no file. */
export function withoutSignIn(text: string | null, type: string): string | null {
  const { settings, security, auth, chosen } = signInOf(text);
  if (chosen !== type) return text;
  const { selectedType: _, ...others } = auth;
  const next = withMember(settings, "security", withMember(security, "auth", others));
  return changedText(next, settings, text);
}
