/** Prints a figure that `bun run test:faults` keeps in test/faults/RESULTS.md. */
export const figure = (text: string): void => console.error(`figure: ${text}`);
