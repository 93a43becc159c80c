/** Part of a list: at most `limit` items after the item `after`; null: from the start. */
export type Slice<Cursor = string> = { after: Cursor | null; limit: number };
