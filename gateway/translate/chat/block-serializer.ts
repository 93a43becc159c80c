import { isJson } from "../exact-json.ts";
import type { OpenBlock, ReplyStep } from "../reply.ts";

/** What of a block has come and not gone on yet. */
type Lane = { key: string; open: OpenBlock; sent: string; held: string };

export type BlockSerializer = {
  /** More of the block that `key` names; `open` says what it is when it is new. */
  add(key: string, open: () => OpenBlock, text: string): ReplyStep[];
  /** Nothing more will come: what is held goes on, and the last block is closed. */
  finish(): ReplyStep[];
};

/**
 * Brings blocks into a row. Chat chunks name the tool call they belong to and may mix several; the other formats want
 * one block after the other. The first open block goes on as it comes, later ones are held until it is complete: text
 * and reasoning once something else begins, a tool call once its arguments are whole JSON, and all at the end. So
 * providers that send one call after the other, which is nearly all, are never held up.
 */
export function blockSerializer(): BlockSerializer {
  let rows: Lane[] = [];

  const begin = (lane: Lane): ReplyStep[] => {
    const { held } = lane;
    lane.sent = held;
    lane.held = "";
    return [
      { kind: "open", block: lane.open },
      ...(held === "" ? [] : [{ kind: "more", text: held } as const]),
    ];
  };

  /** Ends the blocks at the front that are complete, as long as another one waits. */
  const advance = (): ReplyStep[] => {
    const steps: ReplyStep[] = [];
    for (let [front, next] = rows; front && next && isComplete(front); [front, next] = rows) {
      rows = rows.slice(1);
      steps.push({ kind: "close" }, ...begin(next));
    }
    return steps;
  };

  return {
    add(key, open, text) {
      const lane = rows.find((row) => row.key === key);
      if (lane && lane === rows[0]) {
        lane.sent += text;
        return text === "" ? [] : [{ kind: "more", text }];
      }
      if (lane) {
        lane.held += text;
        return advance();
      }
      const added: Lane = { key, open: open(), sent: "", held: text };
      rows.push(added);
      return rows.length === 1 ? begin(added) : advance();
    },
    finish() {
      const steps = rows.flatMap((row, index): ReplyStep[] => [
        ...(index === 0 ? [] : begin(row)),
        { kind: "close" },
      ]);
      rows = [];
      return steps;
    },
  };
}

/** Arguments that are not whole yet may still grow; anything else ends when the next block begins. */
function isComplete({ open, sent }: Lane): boolean {
  if (open.kind !== "call") return true;
  try {
    return isJson(JSON.parse(sent));
  } catch {
    return false;
  }
}
