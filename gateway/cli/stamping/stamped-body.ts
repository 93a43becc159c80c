import type { SessionId } from "#shared/labels.ts";
import { isOverlong } from "#shared/markdown-lines.ts";
import { readSessionLine, type SessionLine } from "#shared/session-line.ts";

/**
 * The outcome of stamping a body with `session`: `same` and `other` leave it unchanged, because with a second id the
 * merge would have no cost; `too_long` and `no_place` cannot be stamped.
 */
export type Stamping =
  | { kind: "stamped"; body: string }
  | { kind: "same" }
  | { kind: "other" | "conflict"; ids: SessionId[] }
  | { kind: "too_long" }
  | { kind: "no_place" };

/**
 * The body with the line `Gateway-Session: <session>` as its last paragraph, or as its first if the end lies within
 * unclosed code or an unclosed comment. Line endings are kept.
 */
export function stampBody(body: string | null, session: SessionId): Stamping {
  const { verdict, ids } = readSessionLine(body);
  if (verdict === "conflict") return { kind: "conflict", ids };
  if (verdict === "one") return ids[0] === session ? { kind: "same" } : { kind: "other", ids };
  const text = body ?? "";
  const line = `Gateway-Session: ${session}`;
  if (text.trim() === "") return { kind: "stamped", body: line };
  const end = text.includes("\r\n") ? "\r\n" : "\n";
  const placed = [`${text.replace(/[ \t\r\n]+$/, "")}${end}${end}${line}`, `${line}${end}${end}${text}`].find(
    (candidate) => names(readSessionLine(candidate), session),
  );
  if (placed === undefined) return { kind: "no_place" };
  return isOverlong(placed) ? { kind: "too_long" } : { kind: "stamped", body: placed };
}

const names = ({ verdict, ids }: SessionLine, session: SessionId): boolean =>
  verdict === "one" && ids[0] === session;
