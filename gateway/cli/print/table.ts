/** Text in columns with an underlined header; columns in `right` are right-aligned. */
export function tableText(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  right: (column: number) => boolean,
): string {
  const widths = head.map((title, at) =>
    Math.max(...[title, ...rows.map((row) => row[at] ?? "")].map((cell) => Bun.stringWidth(cell))),
  );
  const line = (cells: readonly string[]) =>
    widths
      .map((width, at) => {
        const cell = cells[at] ?? "";
        const blanks = " ".repeat(Math.max(0, width - Bun.stringWidth(cell)));
        return right(at) ? blanks + cell : cell + blanks;
      })
      .join("  ")
      .trimEnd();
  const rule = "─".repeat(widths.reduce((sum, width) => sum + width + 2, -2));
  return [line(head), rule, ...rows.map(line)].join("\n");
}
