import { describe, expect, test } from "bun:test";
import { basename, join } from "node:path";
import fc from "fast-check";
import { eventsIn, type Golden, relayed, sseOf, translatedGolden, translation } from "./kit.ts";

const FIXTURES = join(import.meta.dir, "../fixtures/translate");

const goldens: [string, Golden][] = [];
for (const file of [...new Bun.Glob("*.json").scanSync(FIXTURES)].sort()) {
  goldens.push([basename(file, ".json"), await Bun.file(join(FIXTURES, file)).json()]);
}

describe("a call is the same in another format, there and back", () => {
  test.each(goldens)("%s", (_name, golden) => {
    const { sent, answered, streamed } = translatedGolden(golden);
    expect(sent).toEqual(golden.sent);
    expect(answered).toEqual(golden.answered);
    expect(streamed).toEqual(golden.streamed);
  });

  test("a stream that is cut anywhere gives the client the same events", () => {
    const streams = goldens.filter(([, { events }]) => events !== undefined);
    fc.assert(
      fc.property(
        fc.constantFrom(...streams),
        fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 40 }),
        ([, golden], sizes) => {
          const bytes = new TextEncoder().encode(sseOf(golden.events ?? []));
          const pieces: Uint8Array[] = [];
          for (let [at, turn] = [0, 0]; at < bytes.length; turn++) {
            const size = sizes[turn % sizes.length] ?? 1;
            pieces.push(bytes.slice(at, at + size));
            at += size;
          }
          const translated = translation(golden.pair, golden.request, golden);
          expect(eventsIn(relayed(golden.pair, translated, pieces))).toEqual(golden.streamed ?? []);
        },
      ),
      { numRuns: 60 },
    );
  });
});
