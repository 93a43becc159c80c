import { Worker } from "node:worker_threads";
import type { SignInCause } from "#shared/sign-in-causes.ts";
import type { SamlParties, VerifiedAnswer } from "./saml-answer.ts";
import { SignInFault } from "./way-in.ts";

export type SamlThreadTask = { parties: SamlParties; response: string; nowMs: number };
export type SamlThreadAnswer = VerifiedAnswer | { fault: SignInCause };

/** A person of a thousand groups has 1,100 elements; of some providers, each has three attributes. */
const ELEMENTS_MAX = 3000;
const ATTRIBUTES_MAX = 9000;
const ANSWER_MS_MAX = 3000;
const WAITING_MAX = 20;

/** Verifies answers in a thread that is ended when slow; elements are counted first, as time grows with their square. */
export function openSamlReader(parties: SamlParties) {
  let thread: Worker | null = null;
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();
  let settle: (answer: SamlThreadAnswer | null) => void = () => undefined;

  function started(): Worker {
    const worker = new Worker(new URL("./saml-thread.ts", import.meta.url));
    worker.unref();
    const say = (answer: SamlThreadAnswer | null) => worker === thread && settle(answer);
    worker.on("message", say);
    worker.on("error", () => say(null));
    worker.on("exit", () => say(null));
    return worker;
  }

  async function read(task: SamlThreadTask): Promise<VerifiedAnswer> {
    thread ??= started();
    const answered = Promise.withResolvers<SamlThreadAnswer | null>();
    settle = answered.resolve;
    const deadline = setTimeout(settle, ANSWER_MS_MAX, null);
    thread.postMessage(task);
    const answer = await answered.promise;
    clearTimeout(deadline);
    settle = () => undefined;
    if (answer === null) {
      void thread.terminate();
      thread = null;
    }
    if (answer && "answer" in answer) return answer;
    throw new SignInFault(answer?.fault ?? "invalid_answer");
  }

  /** @throws SignInFault invalid_answer; email_missing; unavailable: too many wait. */
  return async (response: string, nowMs: number): Promise<VerifiedAnswer> => {
    if (isTooLarge(Buffer.from(response, "base64").toString())) throw new SignInFault("invalid_answer");
    if (waiting >= WAITING_MAX) throw new SignInFault("unavailable");
    waiting++;
    const reading = last.then(() => read({ parties, response, nowMs }));
    last = reading.catch(() => null);
    return await reading.finally(() => waiting--);
  };
}

/** Elements and attributes, counted at least as high as a parser would. */
function isTooLarge(xml: string): boolean {
  const count = (pattern: RegExp, max: number): boolean => {
    let found = 0;
    for (const _ of xml.matchAll(pattern)) if (++found > max) return true;
    return false;
  };
  return /<!DOCTYPE/i.test(xml) || count(/<[^/]/g, ELEMENTS_MAX) || count(/=/g, ATTRIBUTES_MAX);
}
