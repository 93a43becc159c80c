import type { SESSION_LINE_DIAGNOSTICS } from "./session-line.ts";

/** What is told to people of a line that looks like a session line and is none, and what to do. */
export const DIAGNOSTIC_MEANING: Record<(typeof SESSION_LINE_DIAGNOSTICS)[number], string> = {
  illegal_id:
    "A line `Gateway-Session:` is not followed by one plain id. Write only the id behind it: up to 64 letters, digits, `.`, `_`, `:` or `-`.",
  id_too_long: "A line `Gateway-Session:` has an id of over 64 characters, which is dropped whole.",
  not_plain:
    "A line `Gateway-Session:` has something before its name, such as a list's dash or bold type. Write it as a plain line.",
  lookalike:
    "A line looks like `Gateway-Session:` and has characters of other alphabets in it. Type it anew in plain letters.",
  in_code: "A line `Gateway-Session:` stands in code, where it does not count.",
  in_comment: "A line `Gateway-Session:` stands in an HTML comment, where it does not count.",
  body_too_long: "The description is over 65,536 characters; what is behind them is not read.",
};

/** The meanings of known diagnostics, in the order given. */
export const diagnosticMeanings = (diagnostics: readonly string[]): string[] =>
  diagnostics.flatMap((name) => {
    const known = name as keyof typeof DIAGNOSTIC_MEANING;
    return Object.hasOwn(DIAGNOSTIC_MEANING, name) ? [DIAGNOSTIC_MEANING[known]] : [];
  });
