import { afterAll, expect, test } from "bun:test";
import fc from "fast-check";
import { HAS_HEADS, removeOwnDirectories } from "#test/support/recorder-kit.ts";
import { type Disk, diskOf, foundOn, intent, settle, slowDisk } from "#test/support/slow-disk.ts";

afterAll(removeOwnDirectories);

test.if(HAS_HEADS)(
  "heads lose no call to kill -9 at any step, nor, to a power cut, any that was there at the last sync",
  () => {
    const step = fc.constantFrom(
      "open",
      "open",
      "open",
      "settle",
      "settle",
      "refuse",
      "drop",
      "sweep",
      "room",
      "old",
      "sync",
    );
    const cut = fc.record({
      seed: fc.array(fc.boolean(), { minLength: 7, maxLength: 61 }),
      walIsNew: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 60, maxLength: 260 }), cut, (steps, { seed, walIsNew }) => {
        const { path, log, answer } = slowDisk();
        const open: string[] = [];
        const ended: string[] = [];
        let dropped = 0;
        let calls = 0;
        let synced = { disk: diskOf(path), calls: [] as string[], ended: 0 };
        const all: string[] = [];
        const doing: Record<string, () => void> = {
          open: () => {
            calls += 1;
            open.push(`c${calls}`);
            all.push(`c${calls}`);
            log.write([intent(`c${calls}`)]);
          },
          settle: () => {
            const id = open.splice((calls * 7) % Math.max(1, open.length), 1)[0];
            if (id === undefined) return;
            ended.push(id);
            log.write([settle(id)]);
          },
          refuse: () => {
            calls += 1;
            all.push(`c${calls}`);
            ended.push(`c${calls}`);
            log.write([settle(`c${calls}`)]);
          },
          drop: () => {
            dropped += Math.ceil((ended.length - dropped) / 2);
            log.write([{ kind: "drop", through: dropped }]);
          },
          sweep: () => log.sweep(),
          room: () => log.waiting() === "enough" && log.drain("room"),
          old: () => log.drain("old"),
          sync: () => {
            synced = { disk: diskOf(path), calls: [...all], ended: ended.length };
            answer();
          },
        };
        for (const one of steps) doing[one]?.();

        const now = diskOf(path);
        const inPostgres = new Set(ended.slice(0, dropped));
        const check = (disk: Disk, known: readonly string[], ends: readonly string[]) => {
          const found = foundOn(disk);
          const first = new Map(found.map((text) => [text.split(" ")[1] ?? "", text] as const).reverse());
          for (const id of known) expect([id, inPostgres.has(id) || first.has(id)]).toEqual([id, true]);
          for (const id of ends) if (!inPostgres.has(id)) expect(first.get(id)).toBe(`end ${id}`);
        };
        check(now, all, ended);
        // Of what came after the last sync the disk may have any page of the heads, and the spool's log or not.
        const mixed = Buffer.from(synced.disk[".head"]);
        for (let page = 0; page * 4096 < mixed.length; page++)
          if (seed[page % seed.length]) now[".head"].copy(mixed, page * 4096, page * 4096, (page + 1) * 4096);
        const file = walIsNew ? now : synced.disk;
        check({ ...file, ".head": mixed }, synced.calls, ended.slice(0, synced.ended));
        log.close();
      }),
      { numRuns: Number(process.env["HEADS_RUNS"] ?? 40) },
    );
  },
);
