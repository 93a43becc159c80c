import { desc, eq, lt } from "drizzle-orm";
import { joined, ours } from "#drizzle/ours.ts";
import { droppedNames } from "#drizzle/schema/agent.ts";
import { keys } from "#drizzle/schema/keys.ts";
import type { Reader } from "./change.ts";
import type { Slice } from "./slice.ts";

/** Names that the metrics receiver did not store, newest first. `key` is a key's name, or its id. */
export const listDroppedNames = (
  reader: Reader,
  { after, limit, key, kind }: Slice & { key: { name: string } | { id: string } | null; kind: string | null },
) =>
  reader
    .select({
      id: droppedNames.id,
      key_id: droppedNames.keyId,
      key_name: keys.name,
      day: droppedNames.day,
      kind: droppedNames.kind,
      name: droppedNames.name,
      first_at: droppedNames.firstAt,
    })
    .from(droppedNames)
    .leftJoin(keys, joined(keys.id, droppedNames.keyId))
    .where(
      ours(
        droppedNames,
        { kind: kind === null ? undefined : (kind as "attribute" | "metric") },
        key === null ? undefined : "id" in key ? eq(droppedNames.keyId, key.id) : eq(keys.name, key.name),
        after === null ? undefined : lt(droppedNames.id, after),
      ),
    )
    .orderBy(desc(droppedNames.id))
    .limit(limit);
