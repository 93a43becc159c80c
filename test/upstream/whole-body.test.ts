import { afterAll, expect, test } from "bun:test";
import { zstdCompressSync } from "node:zlib";
import { startWatchdog } from "#gateway/upstream/watchdog.ts";
import { readUpTo } from "#gateway/upstream/whole-body.ts";
import { systemClock } from "#shared/clock.ts";

const MEBIBYTE = 1024 ** 2;
/** Far below the size up to which an answer is read at once. */
const compressed = zstdCompressSync(Buffer.alloc(32 * MEBIBYTE, " "));

const vendor = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: () => new Response(compressed, { headers: { "content-encoding": "zstd" } }),
});
const watchdog = startWatchdog(systemClock);
afterAll(async () => {
  watchdog.close();
  await vendor.stop(true);
});

test("an answer that inflates is limited and counted by its size as read, not by its declared length", async () => {
  const answer = await fetch(vendor.url);
  expect(Number(answer.headers.get("content-length"))).toBeLessThan(64 * 1024);
  let taken = 0;
  const { whole } = await readUpTo(
    { clock: systemClock, watchdog },
    { answer, headers: answer.headers, target: { provider: { idleMs: 60_000 } }, abort: () => undefined },
    {
      bytesMax: MEBIBYTE,
      take: (bytes) => {
        taken += bytes;
      },
    },
  );
  await answer.body?.cancel().catch(() => undefined);
  expect(whole).toBeNull();
  expect(taken).toBeGreaterThan(MEBIBYTE);
  expect(taken).toBeLessThan(2 * MEBIBYTE);
});
