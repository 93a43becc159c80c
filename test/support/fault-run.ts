/** Whether the fault suite runs alone (`test:faults`), and so in full; the whole test run takes a short form of it. */
export const isFaultRun = process.env["FAULTS"] === "all";

/** The cases of a test: the first of them in the whole test run, each of them in a fault run. */
export const casesOf = <T>(cases: readonly T[]): readonly T[] => (isFaultRun ? cases : cases.slice(0, 1));
