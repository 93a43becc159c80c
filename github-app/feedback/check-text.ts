import { meaningsOf } from "#shared/session-line-meaning.ts";

/** What a pull request's body names, and whether a call of its one session is recorded. */
export type Stamp = { sessionIds: readonly string[]; diagnostics: readonly string[]; known: boolean };

export type CheckText = { conclusion: "success" | "neutral"; title: string; summary: string };

/**
 * What the check run says: stamped, not stamped, two ids or an unknown session, and what to do. It never fails, so that
 * it holds up no merge. Of the description it repeats session ids and nothing else; their alphabet is harmless.
 */
export function checkText(stamp: Stamp): CheckText {
  const { conclusion, title, said } = verdictOf(stamp);
  return { conclusion, title, summary: [said, ...meaningsOf(stamp.diagnostics)].join("\n\n") };
}

function verdictOf({ sessionIds, known }: Stamp): Omit<CheckText, "summary"> & { said: string } {
  const [only = "", second] = sessionIds;
  if (sessionIds.length === 0) {
    return {
      conclusion: "neutral",
      title: "Not stamped",
      said: `The description names no session, so the cost of this pull request will be unknown. ${REMEDY}`,
    };
  }
  if (second !== undefined) {
    return {
      conclusion: "neutral",
      title: `${sessionIds.length} different sessions`,
      said: `The description names ${sessionIds.map(quoted).join(", ")}, so none of them is believed and the cost will be unknown. Leave one of the lines \`Gateway-Session:\` and remove the others.`,
    };
  }
  return known
    ? {
        conclusion: "success",
        title: "Stamped",
        said: `The description names session ${quoted(only)}, and calls of it are recorded.`,
      }
    : {
        conclusion: "neutral",
        title: "Unknown session",
        said: `The description names session ${quoted(only)}, of which no call is recorded yet. If none is to come, see that every call sends the header \`x-session-id: ${only}\`, or write the id that the calls did send.`,
      };
}

const REMEDY =
  "Add the line `Gateway-Session: <session id>` with the id that the calls sent as `x-session-id`; `tallygate pr stamp` does so.";

const quoted = (id: string): string => `\`${id}\``;
