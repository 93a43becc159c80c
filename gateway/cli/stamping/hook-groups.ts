import { isRecord, parsedJson } from "#shared/json.ts";

/** Hooks of one event that run after the tools which `matcher` fits. */
export type HookGroup = { matcher: string; hooks: object[] };

/** By this a hook of ours is known again, wherever the checkout lies. */
const MARK = "stamp-hook.ts";

type Members = Record<string, unknown>;

/**
 * An editor of settings that hold hooks in groups by matcher, below `hooks.<event>`, as Claude Code invented them: our own
 * groups are the ones that `make` makes of the command, or with a null command none; everything else stays.
 * @throws Error for a text that has another form.
 */
export const editGroups =
  (event: string, make: (command: string) => HookGroup[]) =>
  (text: string | null, command: string | null): string | null => {
    const settings = objectOf(text?.trim() ? parsedJson(text) : {}, "the file");
    const hooks = objectOf(settings["hooks"] ?? {}, "hooks");
    const groups = hooks[event] ?? [];
    if (!Array.isArray(groups)) throw new Error(`hooks.${event} is not a list`);
    const others = groups.filter((it) => !JSON.stringify(it).includes(MARK));
    const ours = command === null ? [] : make(command);
    const next = withMember(settings, "hooks", withMember(hooks, event, [...others, ...ours]));
    if (Object.keys(next).length === 0) return null;
    // What says the same stays as somebody wrote it.
    return text !== null && Bun.deepEquals(next, settings) ? text : jsonText(next);
  };

/** The object with this member, or without it where it would be empty. */
function withMember(members: Members, name: string, value: object): Members {
  const { [name]: _, ...others } = members;
  return Object.keys(value).length > 0 ? { ...members, [name]: value } : others;
}

export const jsonText = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;

function objectOf(value: unknown, what: string): Members {
  if (isRecord(value)) return value;
  throw new Error(`${what} is no object`);
}
