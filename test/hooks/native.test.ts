import { expect, test } from "bun:test";
import { nativeEvent } from "#gateway/hooks/native.ts";
import { scanJson } from "#gateway/http/scan.ts";

const told = (event: string, id: string) =>
  nativeEvent(
    scanJson(Buffer.from(JSON.stringify({ hook_event_name: event, tool_use_id: id, tool_name: "Bash" }))),
    {
      at: "2026-11-20T10:00:00.000Z",
      isRegistered: () => false,
    },
  );

// Else its beginning would be kept under an id of ours, and its end could never find it: one call, two rows.
test.each([
  ["toolu_01", "toolu_01"],
  ["x".repeat(128), "x".repeat(128)],
  ["x".repeat(129), null],
  ["an id", null],
  ["ключ", null],
  ["", null],
])("a call's id that cannot be kept counts as none: %p", (id, kept) => {
  expect(told("PreToolUse", id)).toMatchObject({ kind: "call", id: kept });
});
