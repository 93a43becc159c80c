import { expect, test } from "bun:test";
import type { ToolServer } from "#gateway/directory.ts";
import type { Connections } from "#gateway/mcp/connections.ts";
import { openLists } from "#gateway/mcp/lists.ts";
import type { Log } from "#shared/log.ts";
import { movableClock } from "../stores/movable-clock.ts";

const server = { name: "files" } as ToolServer;
const silent = { warn: () => undefined } as unknown as Log;

/** A server that answers every list with what `tools` gives at that time, and how often it was asked. */
function world(tools: () => { name: string }[]) {
  const clock = movableClock();
  const it = { clock, asked: 0 };
  const client = {
    listTools: async () => {
      it.asked++;
      return { tools: tools() };
    },
  };
  const connections = { use: (_: unknown, work: (to: unknown) => unknown) => work(client) };
  const lists = openLists(connections as unknown as Connections, clock, silent);
  return { ...it, seen: it, names: async () => (await lists.of(server, "tools")).map(({ name }) => name) };
}

test("a list is remembered for half a minute, and read once however many ask for it", async () => {
  const { seen, clock, names } = world(() => [{ name: `tool-${seen.asked}` }]);
  expect(await Promise.all([names(), names()])).toEqual([["tool-1"], ["tool-1"]]);
  clock.advance(29_000);
  expect(await names()).toEqual(["tool-1"]);
  clock.advance(2_000);
  expect(await names()).toEqual(["tool-2"]);
});

test("a server that fails lists nothing, and is left alone for five seconds", async () => {
  const { seen, clock, names } = world(() => {
    throw new Error("dead");
  });
  expect([await names(), await names(), seen.asked]).toEqual([[], [], 1]);
  clock.advance(6_000);
  expect([await names(), seen.asked]).toEqual([[], 2]);
});

test.each([
  ["2,001 tools", Array.from({ length: 2001 }, (_, index) => ({ name: `t${index}` }))],
  ["a tool of 5 MiB", [{ name: "t", description: "x".repeat(5 * 1024 * 1024) }]],
])("of a server that lists %s nothing is shown", async (_, tools) => {
  expect(await world(() => tools).names()).toEqual([]);
});
