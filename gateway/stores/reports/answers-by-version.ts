import type { Clock } from "#shared/clock.ts";

/** An answer, and whether it has all calls that had ended when it was asked for: only then is it kept. */
type Whole = { made: string | Uint8Array; complete: boolean };

/** `key` has everything that an answer depends on, beside the records and the time: its scope and its specs. */
export type Question<Answer> = {
  key: string;
  /** The version of the records that the answer is made of. */
  version(): Promise<number>;
  make(signal: AbortSignal): Promise<Answer>;
};

/** An answer under way; `version` is null until it has begun. */
type Turn<Answer> = {
  version: number | null;
  made: Promise<Answer>;
  wanted: number;
  stop: AbortController;
  /** When the next may begin: a moment after this is made, or once all wait for it who waited when this was made. */
  over: PromiseWithResolvers<void>;
  /** How many these are; null until it is made. */
  awaited: number | null;
};
type Kept<Answer> = { version: number; answer: Answer; untilMs: number };

const BYTES_MAX = 32 * 1024 * 1024;
/** Ranges without an end reach to the moment of the question: an answer is that of a moment, whatever the records. */
const KEPT_MS = 60_000;

/** The answers used last, up to this many bytes together. */
function lastUsed<Answer extends Whole>(bytesMax: number) {
  const kept = new Map<string, Kept<Answer>>();
  let bytes = 0;
  const sizeOf = (key: string, { answer }: Kept<Answer>) => key.length + answer.made.length;
  function take(key: string): Kept<Answer> | undefined {
    const one = kept.get(key);
    if (one && kept.delete(key)) bytes -= sizeOf(key, one);
    return one;
  }
  return {
    take,
    keep(key: string, one: Kept<Answer>): void {
      take(key);
      kept.set(key, one);
      bytes += sizeOf(key, one);
      for (const oldest of kept.keys()) if (bytes > bytesMax) take(oldest);
    },
  };
}

/**
 * Keeps answers for as long as the version of the records stays the same, at most `KEPT_MS`. Equal questions are one: whoever
 * asks while an older version is being answered shares the next answer with all others who do (decision: Answers are kept by
 * version).
 */
export function answersByVersion<Answer extends Whole>(clock: Clock, bytesMax = BYTES_MAX) {
  const kept = lastUsed<Answer>(bytesMax);
  /** Of each question at most two: the one that is being answered, and the one after it. */
  const turns = new Map<string, Turn<Answer>[]>();

  function begin({ key, ...question }: Question<Answer>, version: number): Turn<Answer> {
    const before = turns.get(key) ?? [];
    const [running] = before;
    const begun = { version: running ? null : version, wanted: 0, stop: new AbortController() };
    const turn: Turn<Answer> = { ...begun, over: Promise.withResolvers(), awaited: null, made: answered() };
    turns.set(key, [...before, turn]);
    return turn;

    async function answered(): Promise<Answer> {
      await running?.over.promise;
      const begunMs = clock.monotonicMs();
      try {
        const asked = running ? await question.version() : version;
        turn.version = asked;
        const answer = await question.make(turn.stop.signal);
        const untilMs = clock.monotonicMs() + KEPT_MS;
        if (answer.complete) kept.keep(key, { version: asked, answer, untilMs });
        return answer;
      } finally {
        turn.awaited = turn.wanted + (turns.get(key)?.[1]?.wanted ?? 0);
        // Readers who were answered together often ask again together.
        const momentMs = Math.min((clock.monotonicMs() - begunMs) / 4, 500);
        void turn.over.promise.then(() => leave(key, turn));
        setTimeout(turn.over.resolve, turn.wanted > 0 ? momentMs : 0);
      }
    }
  }

  function leave(key: string, turn: Turn<Answer>): void {
    const left = (turns.get(key) ?? []).filter((one) => one !== turn);
    if (left.length > 0) turns.set(key, left);
    else turns.delete(key);
  }

  return {
    /** The answer as it is now. An answer that no one waits for any more is stopped. */
    async ask(question: Question<Answer>, signal?: AbortSignal): Promise<Answer> {
      const { key } = question;
      const version = await question.version();
      const known = kept.take(key);
      if (known?.version === version && clock.monotonicMs() < known.untilMs) {
        kept.keep(key, known);
        return known.answer;
      }
      const [running, next] = turns.get(key) ?? [];
      const isShared = running?.awaited === null && [version, null].includes(running.version);
      const turn = isShared ? running : (next ?? begin(question, version));
      turn.wanted++;
      if (turn !== running && turn.wanted === running?.awaited) running.over.resolve();
      const unwanted = () => {
        turn.wanted--;
        if (turn.wanted > 0 || turn.awaited !== null) return;
        turn.stop.abort();
        leave(key, turn);
      };
      if (signal?.aborted) unwanted();
      else signal?.addEventListener("abort", unwanted, { once: true });
      return await turn.made;
    },
  };
}
