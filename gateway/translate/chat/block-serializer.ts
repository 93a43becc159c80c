import { parsedJson } from "#shared/json.ts";
import { isJson } from "../exact-json.ts";
import type { Citation, OpenBlock, ReplyStep } from "../reply.ts";

/** A block's text that has arrived: sent on, and still held back. */
type Lane = { key: string; open: OpenBlock; sent: string; held: string; sign: Sign; cites: Citation[] };
/** The signature of a thought that has ended. */
type Sign = (() => string | null) | undefined;

export type BlockSerializer = {
  /** Extends the block that `key` names; `open` describes a new block. */
  add(key: string, block: { open: () => OpenBlock; sign?: Sign }, text: string): ReplyStep[];
  /** Adds what a block that has not ended cites. */
  cite(key: string, citation: Citation): void;
  /** At the end of the stream: sends what is held back and closes the last block. */
  finish(): ReplyStep[];
};

/**
 * Serialises blocks. Chat chunks name the tool call they belong to and may interleave several; the other formats send
 * one block after another. The first open block is streamed; later ones are held back until it is complete: text and
 * reasoning when another block begins, a tool call when its arguments are complete JSON, all of them at the end. Nearly
 * all providers send calls one after another and are never delayed.
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

  const end = ({ sign, cites }: Lane): ReplyStep[] => {
    const signature = sign?.() ?? null;
    return [
      ...(signature === null ? [] : [{ kind: "sign", signature } as const]),
      ...cites.map((citation) => ({ kind: "cite", citation }) as const),
      { kind: "close" },
    ];
  };

  /** Ends the blocks at the front that are complete, as long as another one waits. */
  const advance = (): ReplyStep[] => {
    const steps: ReplyStep[] = [];
    for (let [front, next] = rows; front && next && isComplete(front); [front, next] = rows) {
      rows = rows.slice(1);
      steps.push(...end(front), ...begin(next));
    }
    return steps;
  };

  return {
    add(key, { open, sign }, text) {
      const lane = rows.find((row) => row.key === key);
      if (lane && lane === rows[0]) {
        lane.sent += text;
        return text === "" ? [] : [{ kind: "more", text }];
      }
      if (lane) {
        lane.held += text;
        return advance();
      }
      const added: Lane = { key, open: open(), sent: "", held: text, sign, cites: [] };
      rows.push(added);
      return rows.length === 1 ? begin(added) : advance();
    },
    cite(key, citation) {
      rows.find((row) => row.key === key)?.cites.push(citation);
    },
    finish() {
      const steps = rows.flatMap((row, index): ReplyStep[] => [
        ...(index === 0 ? [] : begin(row)),
        ...end(row),
      ]);
      rows = [];
      return steps;
    },
  };
}

/** Arguments that are not whole yet may still grow; anything else ends when the next block begins. */
const isComplete = ({ open, sent }: Lane): boolean => open.kind !== "call" || isJson(parsedJson(sent));
