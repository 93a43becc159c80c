import { expect, test } from "bun:test";
import fc from "fast-check";
import { EVENT_BYTES_MAX, type SseEvent, sseSplitter } from "#gateway/metering/sse.ts";
import { cpuMs } from "#test/support/cpu-time.ts";

const utf8 = new TextEncoder();
const text = (bytes: Uint8Array) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);

function eventsOf(chunks: readonly Uint8Array[]): SseEvent[] {
  const splitter = sseSplitter();
  return chunks.flatMap((chunk) => splitter.push(chunk));
}

const dataOf = (stream: string) => eventsOf([utf8.encode(stream)]).map(({ data }) => text(data));

test.each([
  ["one event", "data: a\n\n", ["a"]],
  ["only one blank after the colon is dropped", "data:  a\n\n", [" a"]],
  ["no blank after the colon", "data:a\n\n", ["a"]],
  ["several data lines are joined", "data: a\ndata: b\ndata\n\n", ["a\nb\n"]],
  ["CR LF", "data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]],
  ["CR", "data: a\r\rdata: b\r\r", ["a", "b"]],
  ["mixed line breaks", "data: a\r\ndata: b\n\rdata: c\r\r\n", ["a\nb", "c"]],
  ["a BOM before the first line", "\ufeffdata: a\n\n", ["a"]],
  ["a BOM elsewhere is part of its line", "data: a\n\n\ufeffdata: b\n\n", ["a"]],
  ["comments", ": hello\n\n: there\ndata: a\n:\n\n", ["a"]],
  ["other fields", "event: message_start\nid: 1\nretry: 5\ndata: a\n\n", ["a"]],
  ["an event without data is none", "event: ping\n\n", []],
  ["empty data is an event", "data\n\ndata:\n\n", ["", ""]],
  ["a field that only begins like data", "database: a\n\n", []],
  ["an unfinished event is not one", "data: a\n\ndata: b\n", ["a"]],
])("events are read as the HTML standard reads them: %s", (_, stream, data) => {
  expect(dataOf(stream)).toEqual(data);
});

/** Pieces from which awkward streams are made. */
const pieces = fc.constantFrom(
  "data: ",
  "data:",
  "data",
  "event: x",
  ":",
  "é",
  "漢",
  "🦊",
  "a",
  "\n",
  "\r",
  "\r\n",
  "\n\n",
  "\ufeff",
);
const streams = fc.array(pieces, { maxLength: 40 }).map((parts) => utf8.encode(parts.join("")));
const cuts = fc.array(fc.nat({ max: 300 }), { maxLength: 20 });

function cutAt(bytes: Uint8Array, positions: readonly number[]): Uint8Array[] {
  const ends = [...new Set(positions)].sort((a, b) => a - b).filter((at) => at < bytes.byteLength);
  return [...ends, bytes.byteLength].map((end, index) => bytes.slice(ends[index - 1] ?? 0, end));
}

test("the same bytes give the same events, wherever they are cut", () => {
  fc.assert(
    fc.property(streams, cuts, (bytes, positions) => {
      expect(eventsOf(cutAt(bytes, positions))).toEqual(eventsOf([bytes]));
      expect(eventsOf(Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(eventsOf([bytes]));
    }),
    { numRuns: 300 },
  );
});

test.each([
  ["comments", ":\n"],
  ["events that end with CR LF", "data: b\r\n\r\n"],
])("a chunk is gone through once, whatever it is full of: %s", async (_, part) => {
  const chunk = utf8.encode(part.repeat(200_000));
  // Once through takes some 100 ms; once for each line would take minutes.
  expect(await cpuMs(() => sseSplitter().push(chunk), 1)).toBeLessThan(3000);
});

/** The standard's own algorithm over the whole text, line by line. */
function oracle(stream: string): string[] {
  const events: string[] = [];
  let data: string[] = [];
  const lines = stream.replace(/^\ufeff/, "").split(/\r\n|\r|\n/);
  for (const line of lines.slice(0, -1)) {
    if (line === "") {
      if (data.length > 0) events.push(data.join("\n"));
      data = [];
    } else if (line === "data") data.push("");
    else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
  }
  return events;
}

test("events are those of the standard's algorithm over the whole text", () => {
  fc.assert(
    fc.property(streams, (bytes) => {
      expect(eventsOf([bytes]).map(({ data }) => text(data))).toEqual(oracle(text(bytes)));
    }),
    { numRuns: 500 },
  );
});

test("an event's range is the event: read by itself it gives the same data", () => {
  fc.assert(
    fc.property(streams, (bytes) => {
      for (const { data, start, end } of eventsOf([bytes])) {
        expect(eventsOf([bytes.slice(start, end)]).map((event) => text(event.data))).toEqual([text(data)]);
      }
    }),
  );
});

test("the event that the stream broke off in is given at the end", () => {
  const splitter = sseSplitter();
  expect(splitter.push(utf8.encode("data: a\n\ndata: [DO"))).toHaveLength(1);
  splitter.push(utf8.encode("NE]"));
  expect(text(splitter.end()?.data ?? new Uint8Array())).toBe("[DONE]");
  expect(splitter.end()).toBeNull();
});

test("an event beyond the limit is passed over, and the next one is read", () => {
  const part = new Uint8Array(1024 * 1024).fill(0x61);
  const parts = Array.from({ length: EVENT_BYTES_MAX / part.byteLength }, () => part);
  const stream = [utf8.encode("data: "), ...parts, utf8.encode("\n\ndata: b\n\n")];
  expect(eventsOf(stream).map(({ data }) => text(data))).toEqual(["b"]);
  expect(eventsOf([Buffer.concat(stream)]).map(({ data }) => text(data))).toEqual(["b"]);
});

test("a chunk that is overwritten after it was passed on does not change what was read of it", () => {
  const splitter = sseSplitter();
  const chunk = utf8.encode("data: a\ndata: b");
  splitter.push(chunk);
  chunk.fill(0);
  expect(splitter.push(utf8.encode("c\n\n")).map(({ data }) => text(data))).toEqual(["a\nbc"]);
});

test("an event of very many lines, or in very many chunks, is read whole", () => {
  const lines = Array.from({ length: 5000 }, (_, index) => `data: ${index}`);
  const stream = utf8.encode(`${lines.join("\n")}\n\n`);
  const whole = lines.map((line) => line.slice(6)).join("\n");
  for (const chunks of [[stream], Array.from(stream, (byte) => Uint8Array.of(byte))]) {
    expect(eventsOf(chunks).map(({ data }) => text(data))).toEqual([whole]);
  }
  const long = "x".repeat(5000);
  const bytewise = Array.from(utf8.encode(`data: ${long}\n\n`), (byte) => Uint8Array.of(byte));
  expect(eventsOf(bytewise).map(({ data }) => text(data))).toEqual([long]);
});
