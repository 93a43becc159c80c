/** Text in columns with an underlined header of one or more lines; columns in `right` are right-aligned. */
export function tableText(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  right: (column: number) => boolean,
): string {
  const titles = head.map((title) => title.split("\n"));
  const height = Math.max(...titles.map((lines) => lines.length));
  // A short title is next to the rule.
  const heads = Array.from({ length: height }, (_, line) =>
    titles.map((lines) => lines[line - height + lines.length] ?? ""),
  );
  const widths = head.map((_, at) =>
    Math.max(...[...heads, ...rows].map((cells) => Bun.stringWidth(cells[at] ?? ""))),
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
  return [...heads.map(line), rule, ...rows.map(line)].join("\n");
}
