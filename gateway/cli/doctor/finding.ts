/** What was looked at and how it is; of what is wrong, what to do about it. */
export type Finding = {
  state: "good" | "bad" | "unknown";
  what: string;
  /** For `bad` what to do, for `unknown` why it could not be looked at. */
  advice?: string;
};

export const good = (what: string): Finding => ({ state: "good", what });
export const bad = (what: string, remedy: string): Finding => ({ state: "bad", what, advice: remedy });
export const unknown = (what: string, why: string): Finding => ({ state: "unknown", what, advice: why });

const SIGNS = { good: "✓", bad: "✗", unknown: "–" } as const;

export const findingText = ({ state, what, advice }: Finding): string =>
  `${SIGNS[state]} ${what}${advice === undefined ? "" : `\n    ${advice}`}`;

/** A finding where looking at it fails altogether. */
export async function lookAt(what: string, look: () => Promise<Finding>): Promise<Finding> {
  try {
    return await look();
  } catch (error) {
    return bad(what, error instanceof Error ? error.message : "It could not be looked at.");
  }
}
