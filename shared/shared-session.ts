import { counted } from "./plural.ts";

/** `merged`: merged pull requests that name its session. `isSplit`: contexts say which of the session's calls are its own. */
export type SharedSession = { merged: number; isMerged: boolean; isSplit: boolean };

/** What several pull requests of one session cost, in the words of pages, comments and check runs; null: it names it alone. */
export function sharedSessionText({ merged, isMerged, isSplit }: SharedSession): string | null {
  if (merged < (isMerged ? 2 : 1)) return null;
  const all = counted(merged, "merged pull request");
  return `${isMerged ? all : `This pull request and ${all}`} name this session. ${
    isSplit
      ? "Each of them costs the calls that worked on its branch."
      : "Each of them shows its whole cost, which reports count once."
  }`;
}

/** What a comment and a check run say about a pull request's cost: whether it shares its session, and what is missing. */
export const costNotes = ({ isLowerBound, ...shared }: SharedSession & { isLowerBound: boolean }): string[] =>
  [sharedSessionText(shared), isLowerBound ? LOWER_BOUND : null].filter((note) => note !== null);

const LOWER_BOUND =
  "The cost is a lower bound: some calls have no known cost, or are not linked to this pull request.";
