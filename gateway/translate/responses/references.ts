import { GatewayError } from "../../errors.ts";
import { isJson, type Json } from "../exact-json.ts";

/**
 * What a translated answer leaves for later calls. `input` is null if it need not or cannot be kept; `output` has an
 * item per block, with the id that the client got, or null if the client did not get it.
 */
export type Answered = {
  id: string;
  previousId: string | null;
  input: readonly unknown[] | null;
  output: readonly { id: string | null; item: Json }[];
};

/** Marks ids of translated answers among others'. */
export const ID_MARK = "_tly";

/** The part that the ids of an answer and of its items share. */
export const answerToken = (callId: string): string => ID_MARK.slice(1) + callId.replace(/[^0-9A-Za-z]/g, "");

const ID = /^[a-z]{2,4}_(tly[0-9A-Za-z]{1,64})(?:_\d{1,4})?$/;

/** The answer that an id belongs to; null if it is of another maker. */
const tokenOf = (id: unknown): string | null => (typeof id === "string" ? (ID.exec(id)?.[1] ?? null) : null);

const isReference = (item: unknown): item is Json & { id: string } =>
  isJson(item) &&
  typeof item["id"] === "string" &&
  (item["type"] === "item_reference" || (item["type"] === undefined && item["role"] === undefined));

const itemsOf = ({ input }: Json): readonly unknown[] =>
  Array.isArray(input)
    ? input
    : input === undefined || input === null
      ? []
      : [{ role: "user", content: input }];

/** The translated answers that a request refers to, by `previous_response_id` or by items. */
export function answersReferredTo(body: Json): string[] {
  const tokens = itemsOf(body).map((item) => (isReference(item) ? tokenOf(item.id) : null));
  return [...new Set([tokenOf(body["previous_response_id"]), ...tokens].filter((token) => token !== null))];
}

/** The data that a request without references keeps for later calls, besides its answer. */
export const keptInput = (body: Json): Answered["input"] => itemsOf(body);

/** The answer that a request continues; null if it is the first, or another maker's. */
export const previousIn = (body: Json): string | null => tokenOf(body["previous_response_id"]);

/** `own`: the items of the request itself, without those of the answers that it continues. */
type Resolved = { body: Json & { input: unknown[] }; own: readonly unknown[] };

/** The request with everything it refers to in place. @throws GatewayError invalid_request for what is not `kept` */
export function withReferences(body: Json, kept: ReadonlyMap<string, Answered>): Resolved {
  const own = itemsOf(body).flatMap((item, index) => {
    if (!isReference(item)) return [withoutId(item)];
    const token = tokenOf(item.id);
    return token === null ? [item] : referredItems(kept.get(token), item.id, `input[${index}].id`);
  });
  const previous = previousIn(body);
  if (previous === null) return { body: { ...body, input: own }, own };
  const { previous_response_id: _, ...rest } = body;
  return { body: { ...rest, input: [...conversationUntil(previous, kept), ...own] }, own };
}

/** The item, after reasoning before it that the client did not get and its vendor wants back. */
function referredItems(answered: Answered | undefined, id: string, at: string): Json[] {
  const index = answered?.output.findIndex((one) => one.id === id) ?? -1;
  if (!answered || index < 0) throw unknown(at);
  let first = index;
  while (first > 0 && answered.output[first - 1]?.id === null) first -= 1;
  return answered.output.slice(first, index + 1).map(({ item }) => item);
}

function conversationUntil(token: string, kept: ReadonlyMap<string, Answered>): unknown[] {
  const answers: Answered[] = [];
  for (let next: string | null = token; next !== null; ) {
    const answered = kept.get(next);
    if (!answered) throw unknown("previous_response_id");
    answers.unshift(answered);
    next = answered.previousId;
  }
  return answers.flatMap(({ input, output }) => {
    if (input === null) throw unknown("previous_response_id");
    return [...input.map(withoutId), ...output.map(({ item }) => item)];
  });
}

/** An item that is whole needs no id of ours, which its vendor would not know. */
function withoutId(item: unknown): unknown {
  if (!isJson(item) || tokenOf(item["id"]) === null) return item;
  const { id: _, ...rest } = item;
  return rest;
}

const unknown = (at: string): GatewayError =>
  new GatewayError(
    "invalid_request",
    `\`${at}\` refers to an answer that is not kept: translated answers of this key are kept for an hour after their last use, up to 1 MiB each, unless \`store\` is false. Send the items themselves.`,
  );
