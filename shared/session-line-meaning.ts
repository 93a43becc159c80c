import type { SESSION_LINE_DIAGNOSTICS } from "./session-line.ts";

/** Explains to people why a line that looks like a session line does not count, and what to do. */
export const DIAGNOSTIC_MEANING: Record<(typeof SESSION_LINE_DIAGNOSTICS)[number], string> = {
  illegal_id:
    "A `Gateway-Session:` line is not followed by a single id. Write only the id after it: up to 64 letters, digits, `.`, `_`, `:` or `-`.",
  id_too_long: "A `Gateway-Session:` line has an id of more than 64 characters, which is dropped whole.",
  not_plain:
    "A `Gateway-Session:` line starts with something else, such as a list dash or bold type. Write it as a plain line.",
  lookalike:
    "A line looks like `Gateway-Session:` but contains characters of other alphabets. Retype it in plain letters.",
  in_code: "A `Gateway-Session:` line is in code, where it does not count.",
  in_comment: "A `Gateway-Session:` line is in an HTML comment, where it does not count.",
  body_too_long: "The description has more than 65,536 characters; the rest is not read.",
};

/** The meanings of known diagnostics, in the order given. */
export const diagnosticMeanings = (diagnostics: readonly string[]): string[] =>
  diagnostics.flatMap((name) => {
    const known = name as keyof typeof DIAGNOSTIC_MEANING;
    return Object.hasOwn(DIAGNOSTIC_MEANING, name) ? [DIAGNOSTIC_MEANING[known]] : [];
  });
