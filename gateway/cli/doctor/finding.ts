/** What was looked at and how it is; of what is wrong, what to do about it. */
export type Finding = {
  state: "passed" | "failed" | "skipped";
  what: string;
  /** For `failed` what to do, for `skipped` why it could not be looked at. */
  advice?: string;
};

export const passed = (what: string): Finding => ({ state: "passed", what });
export const failed = (what: string, remedy: string): Finding => ({ state: "failed", what, advice: remedy });
export const skipped = (what: string, why: string): Finding => ({ state: "skipped", what, advice: why });

const SIGNS = { passed: "✓", failed: "✗", skipped: "–" } as const;

export const findingText = ({ state, what, advice }: Finding): string =>
  `${SIGNS[state]} ${what}${advice === undefined ? "" : `\n    ${advice}`}`;

/** A finding where looking at it fails altogether. */
export async function attemptCheck(what: string, look: () => Promise<Finding>): Promise<Finding> {
  try {
    return await look();
  } catch (error) {
    return failed(what, error instanceof Error ? error.message : "It could not be looked at.");
  }
}
