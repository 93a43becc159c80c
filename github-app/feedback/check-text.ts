import { diagnosticMeanings } from "#shared/session-line-meaning.ts";

/** A body's session ids, whether a call of its only one is recorded (null: not shown), and what to say of its cost. */
export type Stamp = {
  sessionIds: readonly string[];
  diagnostics: readonly string[];
  known: boolean | null;
  notes: readonly string[];
};

export type CheckText = { conclusion: "success" | "neutral"; title: string; summary: string };

/**
 * The text of the check run: stamped, not stamped, several ids or an unknown session, and what to do. It never fails,
 * so it blocks no merge. Of the description it repeats only session ids, whose alphabet is harmless.
 */
export function checkText(stamp: Stamp): CheckText {
  const { conclusion, title, text } = verdictOf(stamp);
  return {
    conclusion,
    title,
    summary: [text, ...stamp.notes, ...diagnosticMeanings(stamp.diagnostics)].join("\n\n"),
  };
}

function verdictOf({ sessionIds, known }: Stamp): Omit<CheckText, "summary"> & { text: string } {
  const [only = "", second] = sessionIds;
  if (sessionIds.length === 0) {
    return {
      conclusion: "neutral",
      title: "Not stamped",
      text: `The description names no session, so the cost of this pull request will be unknown. ${REMEDY}`,
    };
  }
  if (second !== undefined) {
    return {
      conclusion: "neutral",
      title: `${sessionIds.length} different sessions`,
      text: `The description names ${sessionIds.map(quoted).join(", ")}, so the cost will be unknown. Keep one \`Gateway-Session:\` line and remove the others.`,
    };
  }
  if (known === null) {
    return {
      conclusion: "neutral",
      title: "Names a session",
      text: `The description names session ${quoted(only)}. Whether calls of it are recorded is not shown here.`,
    };
  }
  return known
    ? {
        conclusion: "success",
        title: "Stamped",
        text: `The description names session ${quoted(only)}, and calls of it are recorded.`,
      }
    : {
        conclusion: "neutral",
        title: "Unknown session",
        text: `The description names session ${quoted(only)}, but no call of it is recorded yet. If you expected one, make sure that every call sends the header \`x-session-id: ${only}\`, or write the id that the calls sent.`,
      };
}

const REMEDY =
  "Add the line `Gateway-Session: <session id>` with the id that the calls sent as `x-session-id`, or run `tallygate pr stamp`.";

const quoted = (id: string): string => `\`${id}\``;
