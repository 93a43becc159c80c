import { isRecord, parsedJson } from "#shared/json.ts";

/** Hooks of one event that run after tools matching `matcher`. */
export type HookGroup = { matcher: string; hooks: object[] };

/** The script of our hooks: it identifies them, wherever the checkout is. */
export const HOOK_SCRIPT = "stamp-hook.ts";

type Members = Record<string, unknown>;

/**
 * An editor for settings with hooks grouped by matcher below `hooks.<event>`, the format that Claude Code introduced:
 * our groups are replaced by those that `make` returns for the command, or removed with a null command; everything else
 * is kept.
 * @throws Error for a text of another form.
 */
export const editGroups =
  (event: string, make: (command: string) => HookGroup[]) =>
  (text: string | null, command: string | null): string | null => {
    const settings = objectOf(text?.trim() ? parsedJson(text) : {}, "the file");
    const hooks = objectOf(settings["hooks"] ?? {}, "hooks");
    const groups = hooks[event] ?? [];
    if (!Array.isArray(groups)) throw new Error(`hooks.${event} is not a list`);
    const others = groups.filter((it) => !JSON.stringify(it).includes(HOOK_SCRIPT));
    const ours = command === null ? [] : make(command);
    const next = withMember(settings, "hooks", withMember(hooks, event, [...others, ...ours]));
    if (Object.keys(next).length === 0) return null;
    // Equal content keeps the user's formatting.
    return text !== null && Bun.deepEquals(next, settings) ? text : jsonText(next, text);
  };

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

function objectOf(value: unknown, what: string): Members {
  if (isRecord(value)) return value;
  throw new Error(`${what} is no object`);
}
