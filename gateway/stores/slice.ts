/** Part of a list: at most `limit` items that come behind the item `after`; null is from the start. */
export type Slice<Cursor = string> = { after: Cursor | null; limit: number };
