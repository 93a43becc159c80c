import { existsSync, readFileSync, writeFileSync } from "node:fs";

const FILE = new URL("../faults/RESULTS.md", import.meta.url).pathname;

const HEAD = `# Results of the fault suite

\`bun run test:faults\` writes this page. A run of some files (\`bun run test:faults simulation\`) replaces their rows only.

| File | Passed | Failed | Seconds | Figures | Run on |
| --- | --- | --- | --- | --- | --- |
`;

type Row = { passed: number; failed: number; figures: string[] };

/** What `bun test` printed, by file. */
function rowsIn(printed: string): Map<string, Row> {
  const rows = new Map<string, Row>();
  let row: Row | null = null;
  for (const line of printed.split("\n")) {
    // From here on it repeats failed tests without their files.
    if (/^\d+ tests? failed:$/.test(line)) break;
    const [, file] = /^(test\/\S+\.test\.tsx?):$/.exec(line) ?? [];
    if (file) {
      row = rows.get(file) ?? { passed: 0, failed: 0, figures: [] };
      rows.set(file, row);
    }
    if (!row) continue;
    if (line.startsWith("(pass) ")) row.passed += 1;
    if (line.startsWith("(fail) ")) row.failed += 1;
    if (line.startsWith("figure: ")) row.figures.push(line.slice("figure: ".length));
  }
  return rows;
}

/** Keeps the rows of other files. `secondsOf` says how long a file took. */
export function writeFaultResults(printed: string, day: string, secondsOf: (file: string) => number): void {
  const kept = existsSync(FILE) ? readFileSync(FILE, "utf8").split("\n") : [];
  const lines = new Map(
    kept.flatMap((line) => {
      const [, file] = /^\| `(test\/[^`]+)` \|/.exec(line) ?? [];
      return file ? [[file, line] as const] : [];
    }),
  );
  for (const [file, { passed, failed, figures }] of rowsIn(printed)) {
    const cells = [`\`${file}\``, passed, failed, secondsOf(file).toFixed(1), figures.join("; "), day];
    lines.set(file, `| ${cells.join(" | ")} |`);
  }
  const sorted = [...lines].sort(([a], [b]) => a.localeCompare(b)).map(([, line]) => line);
  writeFileSync(FILE, `${HEAD}${sorted.join("\n")}\n`);
}
