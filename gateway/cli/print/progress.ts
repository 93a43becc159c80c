import { type Clock, systemClock } from "#shared/clock.ts";

/** How far long work is; `of` is null where its extent is unknown. `text` is a sentence of our own, on one line. */
export type ProgressState = { done: number; of: number | null; text: string };

/** A number of things, such as `200,000`. */
export const countText = (value: number): string => value.toLocaleString("en-US");

export type ProgressDisplay = {
  show(progress: ProgressState): void;
  /** Writes the last state, if a log has not got it yet. A second call does nothing. */
  end(): void;
};

/** Where progress goes: standard error, so that output can be piped. */
export type ProgressOutput = Pick<NodeJS.WriteStream, "write" | "isTTY" | "columns">;

/** In a log, a line at most this often. */
const LINE_EVERY_MS = 10_000;
const BAR_WIDTH = 24;
/** ECMA-48: to the beginning of the line, and erase it. */
const REWIND = "\r\u001b[K";
/** A very wide bar is hard to read, and an unknown width is most often this one. */
const COLUMNS_MAX = 80;

/** A bar on a terminal, now and then a line in a log, nothing if `silent`. */
export function progressDisplay({
  silent = false,
  out = process.stderr,
  clock = systemClock,
}: {
  silent?: boolean;
  out?: ProgressOutput;
  clock?: Clock;
}): ProgressDisplay {
  if (silent) return { show: () => {}, end: () => {} };
  return out.isTTY ? bar(out) : lines(out, clock);
}

function bar(out: ProgressOutput): ProgressDisplay {
  let isShown = false;
  const show = (progress: ProgressState): void => {
    // One column stays free: a terminal that is written to its last one wraps, and the line could not be replaced.
    const width = Math.min(out.columns || COLUMNS_MAX, COLUMNS_MAX) - 1;
    const text = `${barText(progress)}${progress.text}`;
    out.write(`${isShown ? REWIND : ""}${Bun.sliceAnsi(text, 0, width, { ellipsis: "…" })}`);
    isShown = true;
  };
  return {
    show,
    end: () => {
      if (isShown) out.write("\n");
      isShown = false;
    },
  };
}

function barText({ done, of }: ProgressState): string {
  if (of === null) return "";
  const share = of === 0 ? 1 : Math.min(1, done / of);
  const full = Math.floor(share * BAR_WIDTH);
  const percent = String(Math.floor(share * 100)).padStart(3);
  return `${"█".repeat(full)}${"░".repeat(BAR_WIDTH - full)} ${percent} %  `;
}

function lines(out: ProgressOutput, clock: Clock): ProgressDisplay {
  let writtenAtMs = Number.NEGATIVE_INFINITY;
  let written = "";
  let latest = "";
  const write = (): void => {
    if (latest === written) return;
    out.write(`tallygate: ${latest}\n`);
    written = latest;
    writtenAtMs = clock.monotonicMs();
  };
  return {
    show: ({ text }) => {
      latest = text;
      if (clock.monotonicMs() - writtenAtMs >= LINE_EVERY_MS) write();
    },
    end: write,
  };
}
