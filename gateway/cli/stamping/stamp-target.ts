import type { SessionId } from "#shared/labels.ts";
import { isOverlong } from "#shared/markdown-lines.ts";
import { readSessionLine, type SessionLine } from "#shared/session-line.ts";

/** `done` is false if somebody has to act; `text` is a sentence with the outcome or the remedy. */
export type Stamped = {
  done: boolean;
  changed: boolean;
  text: string;
  url: string | null;
  session: SessionId | null;
  /** The task's session, if the pull request names another one, `of`. */
  instead?: { session: SessionId; of: SessionId; branch: string };
};

/** A text on GitHub that can name a session. */
export type StampTarget = {
  url: string;
  body: string | null;
  /** @throws Error if GitHub refuses. */
  write(body: string): Promise<void>;
  /** The current text. */
  reread(): Promise<string | null>;
  /** The consequence of two ids, as `it has no cost`. */
  harm: string;
};

/** Adds the session's line to a text, unless it names one. Repeatable. @throws Error if GitHub refuses. */
export async function writeLine(it: StampTarget, session: SessionId, dryRun: boolean): Promise<Stamped> {
  const stamped = stampBody(it.body, session);
  switch (stamped.kind) {
    case "same":
      return settled(it, session, { changed: false, text: `${it.url} is stamped ${session}.` });
    case "other":
      return notStamped(
        it.url,
        `${it.url} names the session ${stamped.ids[0]}, but this task uses ${session}. Nothing was changed: with two ids ${it.harm}.`,
      );
    case "conflict":
      return notStamped(
        it.url,
        `${it.url} names ${stamped.ids.length} sessions (${stamped.ids.join(", ")}), so ${it.harm}. Keep only one of these lines.`,
      );
    case "too_long":
      return notStamped(
        it.url,
        `${it.url} has no room for another line: GitHub accepts 65,536 characters. Shorten it and try again.`,
      );
    case "no_place":
      return notStamped(
        it.url,
        `${it.url} has no place for the line outside code, quotes and comments. Write \`Gateway-Session: ${session}\` into it by hand.`,
      );
    case "stamped":
      return dryRun
        ? settled(it, session, { changed: false, text: `${it.url} would be stamped ${session}.` })
        : await write(it, session, stamped.body);
  }
}

async function write(it: StampTarget, session: SessionId, body: string): Promise<Stamped> {
  await it.write(body);
  const { verdict } = readSessionLine(await it.reread());
  return verdict === "one"
    ? settled(it, session, { changed: true, text: `${it.url} is now stamped ${session}.` })
    : notStamped(it.url, `${it.url} was changed by someone else meanwhile. Try again.`);
}

const settled = ({ url }: StampTarget, session: SessionId, it: { changed: boolean; text: string }) => ({
  done: true,
  url,
  session,
  ...it,
});

export const notStamped = (url: string | null, text: string): Stamped => ({
  done: false,
  changed: false,
  url,
  session: null,
  text,
});

/** `same` and `other` leave the body unchanged, because two ids mean no cost; the last two cannot be stamped. */
export type Stamping =
  | { kind: "stamped"; body: string }
  | { kind: "same" }
  | { kind: "other" | "conflict"; ids: SessionId[] }
  | { kind: "too_long" }
  | { kind: "no_place" };

/** The body with the line as its last paragraph, or first if its end is unclosed code or comment. Keeps line endings. */
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
