import { expect, test } from "bun:test";
import fc from "fast-check";
import { responseOf, watched } from "#gateway/mcp/watch-answer.ts";

const RESPONSE = { jsonrpc: "2.0", id: 7, result: { content: [{ type: "text", text: "é\n✓" }] } };
const STREAM = [
  ": a comment\n\n",
  'event: message\nid: 1\ndata: {"jsonrpc":"2.0","method":"notifications/progress","params":{}}\n\n',
  `event: message\r\nid: 2\r\ndata: ${JSON.stringify({ jsonrpc: "2.0", id: "7", result: {} })}\r\n\r\n`,
  `data: ${JSON.stringify(RESPONSE)}\n\n`,
  "retry: 50\n\n",
].join("");
const BYTES = new TextEncoder().encode(STREAM);

/** The stream in pieces that end at the places given; with `breaks`, it then breaks off. */
function piecesOf(cuts: readonly number[], breaks = false): ReadableStream<Uint8Array> {
  const ends = [...new Set([...cuts, BYTES.length])].toSorted((a, b) => a - b);
  let from = 0;
  return new ReadableStream({
    pull(controller) {
      const end = ends.shift();
      if (end !== undefined) controller.enqueue(BYTES.slice(from, end));
      else if (breaks) controller.error(new Error("broke"));
      else controller.close();
      from = end ?? from;
    },
  });
}

const cuts = fc.array(fc.integer({ min: 1, max: BYTES.length - 1 }), { maxLength: 20 });

/** What came through, and what was told on the way. */
async function run(body: ReadableStream<Uint8Array>) {
  const told: unknown[] = [];
  const chunks: Uint8Array[] = [];
  let broke = false;
  const through = watched(body, {
    id: 7,
    answered: async (response) => void told.push(response),
    ended: async () => void told.push("ended"),
  });
  try {
    for await (const chunk of through) chunks.push(chunk);
  } catch {
    broke = true;
  }
  return { told, broke, bytes: Buffer.concat(chunks).toString() };
}

test("wherever a stream is cut it comes through as it was, and its response is told once, before its end", async () => {
  await fc.assert(
    fc.asyncProperty(cuts, async (places) => {
      expect(await run(piecesOf(places))).toEqual({ told: [RESPONSE, "ended"], broke: false, bytes: STREAM });
      expect(await responseOf(piecesOf(places), 7)).toEqual(RESPONSE);
    }),
    { numRuns: 60 },
  );
});

test("a stream that breaks off is told to have ended, and breaks for the client too", async () => {
  const { told, broke } = await run(piecesOf([10], true));
  expect(told.at(-1)).toBe("ended");
  expect(broke).toBe(true);
});

test("a client that leaves ends the stream, and the server's side of it", async () => {
  let isCancelled = false;
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(BYTES.slice(0, 10)),
    cancel: () => {
      isCancelled = true;
    },
  });
  const told: string[] = [];
  const nothing = async () => undefined;
  const through = watched(endless, { id: 7, answered: nothing, ended: async () => void told.push("ended") });
  const reader = through.getReader();
  await reader.read();
  await reader.cancel();
  expect([isCancelled, told]).toEqual([true, ["ended"]]);
});
