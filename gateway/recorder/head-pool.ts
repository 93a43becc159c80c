import type { Head } from "./heads.ts";

/** Calls `then` when all that was written before is on the disk, and perhaps never. */
export type Synced = (then: () => void) => void;

/** The heads that nothing needs. */
export type HeadPool = {
  take(): Head | undefined;
  giveBack(head: Head): void;
  /** What the head holds is stored, but perhaps not yet on the disk: until then it is not written over. */
  giveBackSynced(head: Head): void;
  /** Whether too few are free, or soon will be. */
  isShort(): boolean;
};

/** So many heads are kept free, for what comes while the file or the disk takes no more. */
const SPARE = 3;

export function headPool(heads: readonly Head[], synced: Synced): HeadPool {
  const spare = Math.min(SPARE, heads.length - 1);
  // The one that was written last comes first: the processor still has it at hand.
  const free = [...heads].reverse();
  let settling = 0;

  function giveBack(head: Head): void {
    head.clear();
    free.push(head);
  }

  return {
    take: () => free.pop(),
    giveBack,
    giveBackSynced(head) {
      settling += 1;
      synced(() => {
        settling -= 1;
        giveBack(head);
      });
    },
    isShort: () => free.length + settling < spare,
  };
}
