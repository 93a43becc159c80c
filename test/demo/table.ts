/** A table in plain text; columns whose every cell looks like a number are set to the right. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const columns = head.map((name, at) => {
    const cells = rows.map((row) => row[at] ?? "");
    return {
      width: Math.max(...[name, ...cells].map((cell) => cell.length)),
      right: cells.every((cell) => /^(≥ )?[\d.,]*$/.test(cell)),
    };
  });
  const line = (cells: readonly string[]) =>
    columns
      .map(({ width, right }, at) => (cells[at] ?? "")[right ? "padStart" : "padEnd"](width))
      .join("  ")
      .trimEnd();
  const rule = columns.map(({ width }) => "─".repeat(width)).join("──");
  return [line(head), rule, ...rows.map(line)].map((text) => `  ${text}`).join("\n");
}
