// What is copied from a page has every digit: a figure shown as $1.24 is copied as $1.238012, a time as RFC 3339.

/** Call once; copies of fields that are typed into stay as they are. */
export function copyExactly(): void {
  document.addEventListener("copy", (event) => {
    const text = exactText(document.getSelection());
    if (text === null || !event.clipboardData) return;
    event.clipboardData.setData("text/plain", text);
    event.preventDefault();
  });
}

/** Null where nothing shortened is selected. */
function exactText(selection: Selection | null): string | null {
  if (!selection || selection.rangeCount === 0 || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  const around = elementOf(range.commonAncestorContainer)?.closest("[data-exact]");
  if (around instanceof HTMLElement) return around.dataset["exact"] ?? null;
  const copy = range.cloneContents();
  const shortened = copy.querySelectorAll<HTMLElement>("[data-exact]");
  if (shortened.length === 0) return null;
  for (const element of shortened) element.textContent = element.dataset["exact"] ?? "";
  for (const cell of copy.querySelectorAll("td, th")) cell.append("\t");
  for (const row of copy.querySelectorAll("tr, p, li, dd, h1, h2")) row.append("\n");
  return (copy.textContent ?? "").replaceAll("\t\n", "\n").trim();
}

const elementOf = (node: Node): Element | null => (node instanceof Element ? node : node.parentElement);
