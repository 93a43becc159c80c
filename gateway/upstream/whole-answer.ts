import type { FailureCause } from "../errors.ts";
import { decodedCopy } from "../metering/compressed.ts";
import type { Reading } from "../reading.ts";
import { type AnsweredAttempt, encodingOf, isFramed, isJsonAnswer } from "./attempt.ts";
import { providerRequestId, type Translation } from "./translation.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** An answer that was read whole. `forwarded` is null if the provider broke off: `cause` then says how. */
export type WholeAnswer = { reading: Reading } /** `status`: of an error that came with a good one. */ & (
  | { forwarded: Bytes; cause: null; status?: number }
  | { forwarded: null; cause: FailureCause }
);

type Readers = { answered: AnsweredAttempt; readAnswer(bytes: Uint8Array): Reading };

const NOTHING = new Uint8Array();

/** Reads the usage of a whole answer, and translates it back if its call was translated. */
export function wholeAnswer({ answered, readAnswer }: Readers, bytes: Bytes): WholeAnswer {
  const { translation } = answered;
  const plain = decodedCopy(bytes, translation ? null : encodingOf(answered));
  const reading = readAnswer(plain ?? NOTHING);
  const forwarded = translation ? translatedBody(translation, answered, { bytes, reading }) : bytes;
  if (!forwarded) {
    const fault = translation?.fault(bytes);
    if (fault) {
      const failed = { ...reading, failure: reading.failure ?? String(fault.status) };
      return { reading: failed, forwarded: fault.body, cause: null, status: fault.status };
    }
    return { reading, forwarded: null, cause: "bad_answer" };
  }
  return isCutShort(answered, plain)
    ? { reading, forwarded: null, cause: "cut" }
    : { reading, forwarded, cause: null };
}

type MeteredBody = { bytes: Uint8Array; reading: Reading };

/** Null if a successful answer is not in the provider's format. */
function translatedBody(
  translation: Translation,
  { answer, headers }: AnsweredAttempt,
  { bytes, reading }: MeteredBody,
): Bytes | null {
  return answer.ok
    ? translation.answer(bytes, reading.usage)
    : translation.refusal(bytes, { status: answer.status, requestId: providerRequestId(headers) });
}

/** Unframed JSON is complete only if it parses. */
function isCutShort(answered: AnsweredAttempt, plain: Uint8Array | null): boolean {
  if (plain === null || isFramed(answered) || !isJsonAnswer(answered)) return false;
  try {
    JSON.parse(new TextDecoder().decode(plain));
    return false;
  } catch {
    return true;
  }
}
