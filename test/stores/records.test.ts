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
  expect(tail).toEndWith("ON CONFLICT DO NOTHING");
});

test("a batch sends the text of its rows as it is, in one parameter", () => {
  const insert = batchStatement(['{"id":"a"}', '{"id":"b"}']);
  expect(insert.values).toEqual(['[{"id":"a"},{"id":"b"}]']);
});
