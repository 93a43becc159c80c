import type { Clock } from "#shared/clock.ts";
import type { Log } from "#shared/log.ts";
import type { Call, Choice, Target } from "../call.ts";
import { ERRORS, GatewayError } from "../errors.ts";
import { decodedCopy } from "../metering/compressed.ts";
import { lacksWire, targetWires } from "../providers/endpoint.ts";
import { surfaceFacts, type WireName } from "../surface-facts.ts";
import { readProviderError } from "../translate/error-shapes.ts";
import { errorInBytes, objectInBytes } from "../translate/exact-json.ts";
import { refusedWish } from "../translate/wishes.ts";
import { type AnsweredAttempt, type Attempt, encodingOf } from "./attempt.ts";
import { estimatedAnswer } from "./estimated-count.ts";
import { mendedThoughts, withoutForeignThoughts } from "./foreign-thoughts.ts";
import type { LearnedWires } from "./learned-wires.ts";
import { streamOf } from "./request-body.ts";
import { isTranslatable } from "./translation.ts";
import type { Watchdog } from "./watchdog.ts";
import { type AnswerPart, readUpTo, SHORT_BYTES_MAX } from "./whole-body.ts";

/** One sending of a call to a target, `without` what its refusals named so far. */
export type Try = {
  call: Call;
  choice: Choice;
  target: Target;
  attempts: number;
  without?: readonly string[];
  /** It has another form than at first, which is done once. */
  changed?: true;
};

type Deps = { clock: Clock; watchdog: Watchdog; log: Log; learnedWires: LearnedWires };
type Refused = { refused: AnsweredAttempt; send(it: Try): Promise<Attempt> };
type Whole = Refused & { whole: Uint8Array<ArrayBuffer> };

/** Whether a provider refused a call whose client still waits. */
export const isRefused = (attempt: Attempt, { signal }: Call): attempt is AnsweredAttempt =>
  attempt.kind === "answer" && !attempt.answer.ok && !signal.aborted;

/**
 * A refused call, sent once more where that helps: on the provider's other wire, if the refusal says that the model lacks this one,
 * or, translated, without a member that the model does not take, both of which are remembered once that helped; or without thoughts of other vendors,
 * or with a mark for those that a client lost. A token count that the provider's address lacks is estimated. Any other refusal is the same.
 * No byte has reached the client yet.
 */
export async function sentAgain(deps: Deps, it: Try, { refused, send }: Refused): Promise<Attempt> {
  const own = it.changed ? null : withoutForeignThoughts(refused, it.call);
  if (own) {
    await refused.answer.body?.cancel();
    return await changed(deps, { ...it, call: own }, send);
  }
  const mended = it.changed ? [] : mendedThoughts(refused, it.call);
  const wire = otherWire(refused, it, deps.learnedWires);
  const sent = refused.translation && REFUSALS.has(refused.answer.status);
  const { surface, body } = it.call;
  const counts = surfaceFacts(surface).estimated === true && ABSENT.has(refused.answer.status);
  if (mended.length === 0 && !wire && !sent && !counts) return refused;
  const { whole, longer } = await readUpTo(deps, refused, { bytesMax: SHORT_BYTES_MAX });
  if (!whole) return unread(refused, longer);
  const text = textOfRefusal(refused, whole);
  const fitting = mended.find(({ said }) => said.test(text));
  if (fitting) return await changed(deps, { ...it, call: fitting.call }, send);
  if (wire && teaches(refused, text)) {
    return await onOtherWire(deps, { ...it, target: { ...it.target, wire } }, { refused, send, whole });
  }
  if (counts && !isOfModel(text, it.target.model)) {
    const answer = estimatedAnswer(surface, body.bytes);
    return { ...refused, answer, headers: answer.headers };
  }
  return await withoutWish(deps, it, { refused, send, whole });
}

/** A call in another form, whose refusal may still name a member. */
async function changed(deps: Deps, it: Try, send: Refused["send"]): Promise<Attempt> {
  const next: Try = { ...it, changed: true };
  const sent = await send(next);
  return isRefused(sent, it.call) ? await sentAgain(deps, next, { refused: sent, send }) : sent;
}

async function withoutWish(deps: Deps, it: Try, { refused, send, whole }: Whole): Promise<Attempt> {
  const sent = REFUSALS.has(refused.answer.status) ? refused.translation : null;
  const { message } = readProviderError(errorInBytes(whole));
  const wish = sent && refusedWish(objectInBytes(sent.body) ?? {}, message);
  if (!wish) return unread(refused, whole);
  const less = { ...it, without: [...(it.without ?? []), wish] };
  const next = await send(less);
  const last = isRefused(next, it.call) ? await sentAgain(deps, less, { refused: next, send }) : next;
  if (last.kind === "answer" && last.answer.ok) learn(deps, it, { refused, lacks: wish });
  return last;
}

/** Statuses of a refusal that may say that a member is not taken. */
const REFUSALS = new Set([400, 422]);

function learn(
  { learnedWires, log }: Deps,
  { call }: Try,
  { refused, lacks }: { refused: AnsweredAttempt; lacks: string },
): void {
  const { provider, model } = refused.target;
  if (model !== null) learnedWires.learn(provider, model, lacks);
  log.info(
    { requestId: call.id, provider: provider.name, lacks },
    "a provider refuses a format or a member for a model, so calls do without it",
  );
}

async function onOtherWire(deps: Deps, it: Try, { refused, send, whole }: Whole): Promise<Attempt> {
  const second = await changed(deps, it, send);
  if (second.kind === "failed" && ownRefusal(second.cause)) return unread(refused, whole);
  if (second.kind === "answer" && isRefusal(second.answer)) {
    await second.answer.body?.cancel();
    return unread(refused, whole);
  }
  learn(deps, it, { refused, lacks: refused.target.wire });
  return second;
}

/** The other wire does not help either; a limit or a failure is not about the wire. */
const isRefusal = ({ status }: Response): boolean => status >= 400 && status < 429;

/** The gateway's own refusal of a call that the target cannot express, or its failure to write it: nothing that the provider did. */
export function ownRefusal(cause: unknown): GatewayError | null {
  if (cause instanceof TypeError && !("code" in cause)) {
    // A credential of the environment, or stored before these were refused.
    const isHeader = cause.message.startsWith("Header ");
    return new GatewayError(isHeader ? "provider_unconfigured" : "internal", undefined, cause);
  }
  return cause instanceof GatewayError && ERRORS[cause.type].final ? cause : null;
}

/** Statuses of a refusal that may say that the provider lacks the wire for the model. */
const TEACHING = new Set([400, 404, 405, 501]);
/** Those of an address that is not there. */
const ABSENT = new Set([404, 405, 501]);

/** Refusals of the chat wire name the other one, or say that the model does not use this wire. */
const NOT_BY_CHAT =
  /\/?v1\/responses|responses api|not a chat model|via the \/chat\/completions endpoint|unsupported_api_for_model|chatCompletion operation/i;
/** Refusals of the responses wire, where they say more than that nothing is there. */
const NOT_BY_RESPONSES = /chat\/completions|\/responses\b|responses (?:api|endpoint|operation)/i;
/** What is missing is a model or an object of the vendor's, and not the address. */
const MISSING_OBJECT =
  /model_not_found|\bmodels?\b[^.]{0,80}(?:not (?:exist|found)|unknown)|not found[^.]{0,20}\bmodel|with id/i;

const isOfModel = (text: string, model: string | null): boolean =>
  MISSING_OBJECT.test(text) || (model !== null && text.includes(model));

const OTHERS: Readonly<Partial<Record<WireName, "chat" | "responses">>> = {
  chat: "responses",
  responses: "chat",
};

/** The other wire on which a refused call may be tried; null: the refusal stands. Costs nothing for any other answer. */
function otherWire(attempt: Attempt, it: Try, learned: LearnedWires): WireName | null {
  const { surface, upload } = it.call;
  if (it.changed || attempt.kind !== "answer" || !TEACHING.has(attempt.answer.status) || upload) return null;
  const { target } = attempt;
  const { provider, model } = target;
  const other = OTHERS[target.wire];
  if (!other || model === null || !isTranslatable(surface) || surface === "responses.compact") return null;
  const isKnown = lacksWire(provider.kind, model, other) || learned.lacks(provider, model, other);
  return targetWires(provider, model).includes(other) && !isKnown ? other : null;
}

/** Whether a refusal says that the provider lacks the wire for the model. */
function teaches({ answer, target }: AnsweredAttempt, text: string): boolean {
  if (target.wire === "chat") return NOT_BY_CHAT.test(text);
  if (answer.status === 400) return NOT_BY_RESPONSES.test(text);
  return answer.status !== 404 || NOT_BY_RESPONSES.test(text) || !MISSING_OBJECT.test(text);
}

/** A refusal that says more is not read. */
const TEXT_BYTES_MAX = 1024 * 1024;

/** The text of a refusal; empty if it cannot be read. */
function textOfRefusal(refused: AnsweredAttempt, bytes: Uint8Array): string {
  const encoding = refused.translation ? null : encodingOf(refused);
  return new TextDecoder().decode(decodedCopy(bytes, encoding, TEXT_BYTES_MAX) ?? new Uint8Array());
}

/** The same answer again, of which a beginning was read. */
function unread(
  refused: AnsweredAttempt,
  body: Uint8Array<ArrayBuffer> | (() => Promise<AnswerPart>),
): AnsweredAttempt {
  const { status, headers } = refused.answer;
  const again = typeof body === "function" ? streamOf(async () => (await body()).value ?? null) : body;
  return { ...refused, answer: new Response(again, { status, headers }) };
}
