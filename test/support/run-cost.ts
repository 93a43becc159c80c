import { BUDGET_SECONDS } from "./tiers.ts";

const SLOWEST_SHOWN = 15;

type Run = {
  /** Seconds by the clock that a file took. */
  secondsOf(file: string): number;
  /** Processor time of what all suites share, by name; null: none ran, or it is not known. */
  shared: Readonly<Record<string, number | null>>;
  files: readonly string[];
  /** Whether this was a run that `BUDGET_SECONDS` is about. */
  budgeted: boolean;
};

/** What a run cost: the slowest files, processor time by folder, and the folders over their budget. */
export function costOf(used: ReadonlyMap<string, number>, run: Run): string {
  const folders = new Map<string, number>();
  for (const [file, seconds] of used) {
    // A suite may start suites of its own in a scratch directory.
    if (!file.startsWith("test/")) continue;
    const folder = file.split("/")[1] ?? file;
    folders.set(folder, (folders.get(folder) ?? 0) + seconds);
  }
  for (const [name, seconds] of Object.entries(run.shared)) {
    if (seconds !== null) folders.set(`(${name})`, seconds);
  }
  const total = [...folders.values()].reduce((sum, seconds) => sum + seconds, 0);
  const dearest = [...folders].sort(([, a], [, b]) => b - a);
  const over = run.budgeted ? dearest.filter(([name, it]) => it > (BUDGET_SECONDS[name] ?? Infinity)) : [];
  return [
    "",
    "Slowest files (seconds by the clock, and of processor time):",
    ...slowest(used, run),
    ...(used.size === 0
      ? []
      : [
          "",
          `Processor time by folder, ${total.toFixed(0)} s in all:`,
          ...dearest.map(([name, seconds]) => `${seconds.toFixed(1).padStart(7)} s  ${name}`),
        ]),
    ...over.map(
      ([name, seconds]) =>
        `${name} took ${seconds.toFixed(0)} s; its budget is ${BUDGET_SECONDS[name]} s (test/support/tiers.ts).`,
    ),
    "",
  ].join("\n");
}

const slowest = (used: ReadonlyMap<string, number>, { files, secondsOf }: Run): string[] =>
  files
    .map((file) => ({ file, seconds: secondsOf(file) }))
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, SLOWEST_SHOWN)
    .map(({ file, seconds }) => {
      const processor = used.get(file);
      const shown = processor === undefined ? "" : processor.toFixed(1);
      return `${seconds.toFixed(1).padStart(7)} s ${shown.padStart(6)} s  ${file}`;
    });
