/** What was checked and the outcome; for a failure, also the remedy. */
export type Finding = {
  state: "passed" | "failed" | "skipped";
  what: string;
  /** For `failed` the remedy, for `skipped` why it could not be checked. */
  advice?: string;
};

export const passed = (what: string): Finding => ({ state: "passed", what });
export const failed = (what: string, remedy: string): Finding => ({ state: "failed", what, advice: remedy });
export const skipped = (what: string, why: string): Finding => ({ state: "skipped", what, advice: why });

const SIGNS = { passed: "✓", failed: "✗", skipped: "–" } as const;

export const findingText = ({ state, what, advice }: Finding): string =>
  `${SIGNS[state]} ${what}${advice === undefined ? "" : `\n    ${advice}`}`;

/** Turns an exception during a check into a finding. */
export async function attemptCheck(what: string, look: () => Promise<Finding>): Promise<Finding> {
  try {
    return await look();
  } catch (error) {
    return failed(what, error instanceof Error ? error.message : "It could not be looked at.");
  }
}
