import { parseSessionId, type SessionId } from "./labels.ts";
import { isOverlong, type MarkdownLine, markdownLines } from "./markdown-lines.ts";

/** The name that begins the line; ASCII letters of either case. */
const SESSION_LINE_KEY = "Gateway-Session";

/**
 * Why a line that looks like a session line does not count, or why the body was not read to its end. `illegal_id`: the
 * rest of the line is not one id; `id_too_long`: it is, but over 64 characters; `not_plain`: there is text before the
 * name; `lookalike`: there are characters outside ASCII in or before the name; `in_code`, `in_comment`: the line is in
 * code or in a comment; `body_too_long`: the text beyond GitHub's own limit was not read.
 */
export const SESSION_LINE_DIAGNOSTICS = [
  ...["illegal_id", "id_too_long", "not_plain", "lookalike"],
  ...["in_code", "in_comment", "body_too_long"],
] as const;
type SessionLineDiagnostic = (typeof SESSION_LINE_DIAGNOSTICS)[number];

export type SessionLine = {
  /** Distinct, sorted. Ids are opaque: `a` and `A` are different ids. */
  ids: SessionId[];
  verdict: "none" | "one" | "conflict";
  /** Distinct, sorted. A diagnosed line never makes a conflict. */
  diagnostics: SessionLineDiagnostic[];
};

// Neither `\s` nor the flags `m` and `u`: they would take NBSP for a blank, U+2028 for a line's end, and U+017F and
// U+212A for `s` and `k`.
const LINE = /^ {0,3}gateway-session:[ \t]*([A-Za-z0-9._:-]{1,64})[ \t]*$/i;
const NAMED = /^ {0,3}gateway-session:/i;
const OVERLONG_ID = /^[ \t]*[A-Za-z0-9._:-]{65,}[ \t]*$/;

const BEYOND_ASCII = /[^\0-\x7f]/;
const MENTION = mention();
const KEY_LETTERS = 14;

/**
 * The session that a pull-request or review body names, by lines `Gateway-Session: <id>` (spec, Pull-request stamping).
 * A line counts outside code, HTML comments and block quotes, with at most three spaces before it and nothing but
 * blanks after its id. Linear in the length of the body; null is an empty body.
 */
export function readSessionLine(body: string | null): SessionLine {
  const ids = new Set<SessionId>();
  const diagnostics = new Set<SessionLineDiagnostic>();
  for (const line of markdownLines(body ?? "")) {
    const id = line.place === "text" ? parseSessionId(LINE.exec(line.text)?.[1]) : null;
    const fault = id === null ? faultOf(line) : null;
    if (id !== null) ids.add(id);
    if (fault !== null) diagnostics.add(fault);
  }
  if (isOverlong(body ?? "")) diagnostics.add("body_too_long");
  return {
    ids: [...ids].sort(),
    verdict: ids.size === 0 ? "none" : ids.size === 1 ? "one" : "conflict",
    diagnostics: [...diagnostics].sort(),
  };
}

function faultOf({ text, place }: MarkdownLine): SessionLineDiagnostic | null {
  const named = MENTION.exec(text)?.[0];
  if (named === undefined || place === "quote" || letters(named) < KEY_LETTERS - 3) return null;
  if (place === "code") return "in_code";
  if (place === "comment") return "in_comment";
  const value = NAMED.exec(text)?.[0];
  if (value !== undefined) return OVERLONG_ID.test(text.slice(value.length)) ? "id_too_long" : "illegal_id";
  return BEYOND_ASCII.test(named) ? "lookalike" : "not_plain";
}

const letters = (text: string): number => text.replace(/[^A-Za-z]/g, "").length;

/** What looks like the name near a line's start, in decorations or look-alike characters. All repeats are bounded. */
function mention(): RegExp {
  const beyond = "[^\\0-\\x7f]";
  const invisible = "[\\u00ad\\u200b-\\u200d\\u2060\\ufeff]?";
  const name = [...SESSION_LINE_KEY].map((letter) => `(?:${letter}|${beyond})`).join(invisible);
  return new RegExp(`^[^A-Za-z]{0,16}${name}[^A-Za-z0-9:]{0,8}(?::|${beyond})`, "i");
}
