import { expect, test } from "bun:test";
import { answerInFull } from "#gateway/batch/answers.ts";

const MEBIBYTE = 1024 ** 2;

/** An answer of as many MiB as anybody reads. */
function endless() {
  let poured = 0;
  let left = false;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      poured += 1;
      controller.enqueue(new Uint8Array(MEBIBYTE));
    },
    cancel() {
      left = true;
    },
  });
  return { answer: new Response(body), poured: () => poured, left: () => left };
}

test("an answer about a file is read whole", async () => {
  const bytes = crypto.getRandomValues(new Uint8Array(50_000));
  expect(Buffer.from(await answerInFull(new Response(bytes))).equals(bytes)).toBe(true);
  expect((await answerInFull(new Response(null, { status: 204 }))).byteLength).toBe(0);
});

test("one without an end is given up, and its provider is told", async () => {
  const { answer, poured, left } = endless();
  await expect(answerInFull(answer)).rejects.toMatchObject({ type: "upstream_broken" });
  expect(left()).toBe(true);
  expect(poured()).toBeLessThan(24);
});
