/**
 * How the entries of a turn lie in one text: a line for each, with a sign for its kind, the call's id, and the row as
 * JSON, which has no line break of its own.
 */
type Line = { kind: "intent" | "settle"; id: string; text: string };

const SIGNS = { intent: "+", settle: "=" } as const;

export const lineOf = (kind: Line["kind"], id: string, text: string): string =>
  `${SIGNS[kind]}${id} ${text}\n`;

/** The rows that were settled in the turn, in order. */
export function settledIn(body: string): string[] {
  const rows: string[] = [];
  for (const line of body.split("\n"))
    if (line.startsWith(SIGNS.settle)) rows.push(line.slice(line.indexOf(" ") + 1));
  return rows;
}

export function linesOf(body: string): Line[] {
  const lines = body.split("\n").slice(0, -1);
  return lines.map((line) => {
    const space = line.indexOf(" ");
    const kind = line.startsWith(SIGNS.settle) ? "settle" : "intent";
    return { kind, id: line.slice(1, space), text: line.slice(space + 1) };
  });
}
