import { expect, test } from "bun:test";
import { getTableColumns } from "drizzle-orm";
import { requests } from "#drizzle/schema/records.ts";
import { batchStatement, ingestStatement } from "#gateway/stores/records.ts";

test("the ingest statement names every column of the table, on both sides", () => {
  const [head = "", tail = ""] = ingestStatement().split(" SELECT ");
  for (const [member, column] of Object.entries(getTableColumns(requests))) {
    expect(head).toContain(`"${column.name}"`);
    expect(tail).toContain(`"${member}" ${column.getSQLType()}`);
  }
  expect(tail).toContain(`coalesce(r."orgId", 'default')`);
  expect(tail).toContain("ON CONFLICT DO NOTHING");
});

test("a batch sends the text of its rows as it is, in one parameter, and an id of its own", () => {
  const [rows, id] = batchStatement(['{"id":"a"}', '{"id":"b"}']).values;
  expect(rows).toBe('[{"id":"a"},{"id":"b"}]');
  expect(id).not.toBe(batchStatement([]).values[1] ?? null);
});
