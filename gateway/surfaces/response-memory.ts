import type { Conversation, JsonBody } from "../call.ts";
import { memberValue } from "../http/scan.ts";
import { isJson, type Json, objectsIn, textIn } from "../translate/exact-json.ts";
import { inputItems, joinedItems } from "../upstream/socket-conversation.ts";

/** Characters of all conversations in this process; beyond it none is kept, and its client sends it whole. */
const KEPT_MAX = 64 * 1024 * 1024;
/** Lanes of one connection whose last response is kept. */
const LANES_MAX = 32;

/** What is kept in this process. */
export type MemoryTaken = { length: number };

export type ResponseMemory = {
  find(id: string): Conversation | null;
  /** The conversation up to and with a request; null: it continues one that is not known. */
  upTo(body: JsonBody): string | null;
  keep(lane: string | null, conversation: Conversation & { id: string }): void;
  clear(): void;
};

/** The last response of each lane of a connection with what led up to it, for clients that store nothing at a vendor. */
export function responseMemory(kept: MemoryTaken): ResponseMemory {
  const lanes = new Map<string | null, Conversation & { id: string }>();
  const drop = (lane: string | null) => {
    kept.length -= lanes.get(lane)?.items.length ?? 0;
    lanes.delete(lane);
  };
  const find = (id: string): Conversation | null =>
    [...lanes.values()].find((conversation) => conversation.id === id) ?? null;

  return {
    find,
    upTo(body) {
      const id = memberValue(body, "previous_response_id") ?? null;
      const before = typeof id === "string" ? find(id)?.items : "";
      return before === undefined ? null : joinedItems(before, inputItems(body));
    },
    keep(lane, { id, items, isOurs }) {
      drop(lane);
      const [oldest] = lanes.keys();
      if (lanes.size >= LANES_MAX && oldest !== undefined) drop(oldest);
      if (kept.length + items.length > KEPT_MAX) return;
      kept.length += items.length;
      lanes.set(lane, { id, items, isOurs });
    },
    clear() {
      for (const lane of lanes.keys()) drop(lane);
    },
  };
}

/** The items of a whole response as a later request's input: without ids, which were not kept, and without unreadable thoughts. */
export const outputItems = (response: Json): string =>
  objectsIn(response, "output")
    .filter((item) => item["type"] !== "reasoning" || textIn(item, "encrypted_content") !== null)
    .map(({ id: _, status: __, ...item }) => JSON.stringify(item))
    .join(",");

/** The response of an event that ends it well; null for any other. */
export function finishedIn(event: Json | null): Json | null {
  const isEnd = /^response\.(?:completed|incomplete)$/.test(textIn(event, "type") ?? "");
  return isEnd && isJson(event?.["response"]) ? event["response"] : null;
}
