import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import fc from "fast-check";
import { removeOwnDirectories } from "#test/support/recorder-kit.ts";
import { type Disk, diskOf, foundOn, intent, newSegment, settlement } from "#test/support/segments.ts";

afterAll(removeOwnDirectories);

const STEPS = [
  "open",
  "open",
  "open",
  "settle",
  "settle",
  "refuse",
  "send",
  "sweep",
  "sync",
  "copy",
] as const;
/** So long that a call takes a page or more. */
const TEXT = "x".repeat(3000);

/** A segment in use, what its calls were promised, and what the disk had of it at the last sync. */
function life() {
  const segment = newSegment();
  const opened: string[] = [];
  const ended: string[] = [];
  let open: string[] = [];
  let sent = 0;
  const onDisk = () => ({ disk: diskOf(segment.path), opened: [...opened], ended: [...ended] });
  let synced = onDisk();
  const settle = (id: string) => {
    segment.write([settlement(id, `end of ${id} ${TEXT}`)]);
    ended.push(id);
  };
  const steps: Record<(typeof STEPS)[number], () => void> = {
    open: () => {
      const id = `call-${opened.length}`;
      segment.write([intent(id, `start of ${id} ${TEXT}`)]);
      opened.push(id);
      open.push(id);
    },
    settle: () => {
      const id = open[(opened.length * 7) % Math.max(1, open.length)];
      if (id === undefined) return;
      open = open.filter((other) => other !== id);
      settle(id);
    },
    refuse: () => {
      opened.push(`call-${opened.length}`);
      settle(`call-${opened.length - 1}`);
    },
    send: () => {
      const rows = segment.pending.take(Math.ceil((ended.length - sent) / 2));
      segment.pending.drop(rows);
      sent += rows.length;
    },
    sweep: () => segment.sweep(),
    sync: () => {
      synced = onDisk();
    },
    // What the flush worker does every 2 s. SQLite syncs the log before it copies, and the file after that.
    copy: () => {
      const worker = new Database(segment.path, { readwrite: true });
      worker.query("PRAGMA wal_checkpoint(PASSIVE)").get();
      worker.close();
      synced = onDisk();
    },
  };
  return {
    segment,
    steps,
    now: onDisk,
    synced: () => synced,
    inPostgres: () => new Set(ended.slice(0, sent)),
  };
}

/** What the disk may have after a power cut: its log at the last sync, with any page of what was written since. */
function cut(synced: Disk, now: Disk, pages: readonly boolean[]): Disk {
  const [old, newer] = [synced["-wal"], now["-wal"]];
  const wal = Buffer.alloc(Math.max(old.length, newer.length));
  old.copy(wal);
  // SQLite syncs the header of a restarted log before it writes over what follows.
  const isRestarted = !old.subarray(0, 32).equals(newer.subarray(0, 32));
  for (let at = 0, page = 0; at < newer.length; at += 4096, page++)
    if (pages[page % pages.length] || (isRestarted && page === 0)) newer.copy(wal, at, at, at + 4096);
  return { "": synced[""], "-wal": wal };
}

test("no call is lost to kill -9 at any step, nor, to a power cut, one that was there at the last sync", () => {
  const steps = fc.array(fc.constantFrom(...STEPS), { minLength: 30, maxLength: 150 });
  const pages = fc.array(fc.boolean(), { minLength: 7, maxLength: 61 });
  fc.assert(
    fc.property(steps, pages, (chosen, written) => {
      const { segment, steps: doing, now, synced, inPostgres } = life();
      for (const step of chosen) doing[step]();
      const stored = inPostgres();
      const check = ({ disk, opened, ended }: ReturnType<typeof now>) => {
        const found = new Map(
          foundOn(disk)
            .map((text) => [text.split(" ")[2] ?? "", text.split(" ")[0]] as const)
            .reverse(),
        );
        const missing = opened.filter((id) => !stored.has(id) && !found.has(id));
        const unended = ended.filter((id) => !stored.has(id) && found.get(id) !== "end");
        expect([missing, unended]).toEqual([[], []]);
      };
      check(now());
      check({ ...synced(), disk: cut(synced().disk, now().disk, written) });
      void segment.leave();
    }),
    { numRuns: Number(process.env["POWER_CUT_RUNS"] ?? 40) },
  );
});
