import { fits } from "#shared/schema.ts";
import { ANSWER_MS, WorkerIsAsked, type WorkerQuestion, WorkersReply } from "./messages.ts";

/** What a worker answers; it must not reject. */
type WorkerAnswers = Record<WorkerQuestion, () => Promise<unknown>>;

export type Fellows = {
  /** Asks the others, for `metrics` all. Who does not answer within a second is left out. */
  ask(question: WorkerQuestion): Promise<unknown[]>;
  answerWith(answers: WorkerAnswers): void;
  /** Leaves the last figures behind, and answers nothing more. */
  part(figures: () => Promise<unknown>): Promise<void>;
};

/** A gateway of one process. */
export const ALONE: Fellows = {
  ask: async () => [],
  answerWith: () => undefined,
  part: async () => undefined,
};

/** The launcher has a second for the answers; afterwards it sends those that it has. */
const REPLY_MS = 2 * ANSWER_MS;

/** Reaches the other workers through the launcher that started this process. */
export function openFellows(): Fellows {
  const asked = new Map<number, (contents: unknown[]) => void>();
  let answers: WorkerAnswers | null = null;
  let number = 0;
  process.on("message", (message: unknown) => {
    if (fits(WorkersReply, message)) asked.get(message.reply)?.(message.contents);
    else if (fits(WorkerIsAsked, message)) void answer(message.id, message.put);
  });

  async function answer(id: number, question: WorkerQuestion): Promise<void> {
    send({ answer: id, content: (await answers?.[question]()) ?? null });
  }

  async function request(message: object): Promise<unknown[]> {
    const id = number++;
    const { promise, resolve } = Promise.withResolvers<unknown[]>();
    asked.set(id, resolve);
    const timer = setTimeout(() => resolve([]), REPLY_MS);
    send({ ...message, id });
    const contents = await promise;
    clearTimeout(timer);
    asked.delete(id);
    return contents;
  }

  return {
    ask: (question) => request({ ask: question }),
    answerWith(given) {
      answers = given;
    },
    async part(figures) {
      answers = null;
      await request({ parting: await figures() });
    },
  };
}

function send(message: object): void {
  // The launcher may be gone; this process then ends soon.
  if (process.connected) process.send?.(message);
}
