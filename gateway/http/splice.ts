import type { JsonBody, Member } from "../call.ts";
import type { Visit } from "./json-grammar.ts";
import { isWhitespace, OPEN_BRACE, skipString, skipWhitespace, skipWithin } from "./json-grammar.ts";
import { nameAt, valueAt } from "./json-value.ts";
import { lastMember, memberValue } from "./scan.ts";

/** Changes that the gateway may make to a body; `route` is removed (spec, common request inputs). */
export type Edits = {
  /** The body is not a provider's yet, and keeps its `route`. */
  keepRoute?: boolean;
  remove?: readonly string[];
  /** Members to add if the body has none of that name. */
  add?: Readonly<Record<string, unknown>>;
  /** Model to request from the provider. */
  model?: string;
  /** Model to name in the objects of these members, wherever one names a model. */
  modelWithin?: { members: readonly string[]; model: string };
  /** Set `stream_options.include_usage`. */
  askForUsage?: boolean;
};

/** Replaces bytes `[start, end)` of the original with `put`. */
type Cut = { start: number; end: number; put: string };

const COMMA = 0x2c;
const USAGE_MEMBER = '"include_usage":true';

/**
 * The body for the provider. All other bytes stay unchanged, so that big integers, `1.0`, escapes and member order
 * survive and providers' prompt caches keep working (decision: Bodies are spliced, never re-serialised). Every
 * top-level `model` is replaced, because a parser may prefer the first of two. Returns `body.bytes` itself if nothing
 * changes.
 */
export function splice(body: JsonBody, edits: Edits): Uint8Array {
  const cuts = [
    ...additions(body, edits),
    ...modelCuts(body, edits),
    ...innerModelCuts(body, edits),
    ...removals(body, edits),
    ...(edits.askForUsage ? usageCuts(body) : []),
  ];
  return cuts.length === 0 ? body.bytes : applied(body.bytes, cuts);
}

/** Whether the client itself requested the usage chunk of a stream. */
export function asksForUsage(body: JsonBody): boolean {
  const options = memberValue(body, "stream_options");
  return (
    typeof options === "object" &&
    options !== null &&
    "include_usage" in options &&
    options.include_usage === true
  );
}

/** Members that the client did not send, inserted before the others. */
function additions({ bytes, members }: JsonBody, edits: Edits): Cut[] {
  const { model, askForUsage, add = {} } = edits;
  const added = Object.entries(add)
    .filter(([name]) => !members.has(name))
    .map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  if (model !== undefined && !members.has("model")) added.push(`"model":${JSON.stringify(model)}`);
  if (askForUsage && !members.has("stream_options")) added.push(`"stream_options":{${USAGE_MEMBER}}`);
  if (added.length === 0) return [];
  const hasOthers = members.size > removed(edits).filter((name) => members.has(name)).length;
  const at = skipWhitespace(bytes, 0) + 1;
  return [{ start: at, end: at, put: added.join(",") + (hasOthers ? "," : "") }];
}

function modelCuts({ bytes, members }: JsonBody, { model }: Edits): Cut[] {
  if (model === undefined) return [];
  return (members.get("model") ?? [])
    .filter((member) => valueAt(bytes, member) !== model)
    .map((member) => valueCut(member, JSON.stringify(model)));
}

function innerModelCuts({ bytes, members }: JsonBody, { modelWithin }: Edits): Cut[] {
  if (!modelWithin) return [];
  const put = JSON.stringify(modelWithin.model);
  const cuts: Cut[] = [];
  const within = (level: number): Visit => ({
    level,
    member(member) {
      const isModel = nameAt(bytes, member.keyStart, skipString(bytes, member.keyStart)) === "model";
      if (isModel && valueAt(bytes, member) !== modelWithin.model) cuts.push(valueCut(member, put));
    },
  });
  for (const place of modelWithin.members.flatMap((name) => members.get(name) ?? [])) {
    skipWithin(bytes, place.valueStart, { level: 2, within });
  }
  return cuts;
}

const valueCut = ({ valueStart, valueEnd }: Member, put: string): Cut => ({
  start: valueStart,
  end: valueEnd,
  put,
});

const removed = ({ remove = [], keepRoute }: Edits): readonly string[] =>
  keepRoute ? remove : [...remove, "route"];

/** Removes all members of the names. Adjacent ones go together, with the comma before if none follows. */
function removals({ bytes, members }: JsonBody, edits: Edits): Cut[] {
  const runs: Member[] = [];
  const all = removed(edits).flatMap((name) => members.get(name) ?? []);
  for (const member of all.toSorted((a, b) => a.keyStart - b.keyStart)) {
    const run = runs.at(-1);
    const adjacent = run !== undefined && nextKey(bytes, run.valueEnd) === member.keyStart;
    if (adjacent) runs[runs.length - 1] = { ...run, valueEnd: member.valueEnd };
    else runs.push(member);
  }
  return runs.map((run) => runCut(bytes, run));
}

/** Offset of the key after a value; null after the last value of an object. */
function nextKey(bytes: Uint8Array, valueEnd: number): number | null {
  const at = skipWhitespace(bytes, valueEnd);
  return bytes[at] === COMMA ? skipWhitespace(bytes, at + 1) : null;
}

function runCut(bytes: Uint8Array, { keyStart, valueEnd }: Member): Cut {
  const next = nextKey(bytes, valueEnd);
  if (next !== null) return { start: keyStart, end: next, put: "" };
  const before = lastNonBlank(bytes, keyStart);
  return { start: bytes[before] === COMMA ? before : keyStart, end: valueEnd, put: "" };
}

function lastNonBlank(bytes: Uint8Array, before: number): number {
  let at = before - 1;
  while (isWhitespace(bytes[at])) at--;
  return at;
}

function usageCuts({ bytes, members }: JsonBody): Cut[] {
  return (members.get("stream_options") ?? []).flatMap((member) => optionsCuts(bytes, member));
}

/** Edits in one `stream_options`. Anything but an object is replaced: ignored, it would cost the usage report. */
function optionsCuts(bytes: Uint8Array, options: Member): Cut[] {
  const at = options.valueStart;
  if (bytes[at] !== OPEN_BRACE) return [valueCut(options, `{${USAGE_MEMBER}}`)];
  const { last, empty } = lastMember(bytes, at, "include_usage");
  if (!last) return [{ start: at + 1, end: at + 1, put: empty ? USAGE_MEMBER : `${USAGE_MEMBER},` }];
  return valueAt(bytes, last) === true ? [] : [valueCut(last, "true")];
}

/** One copy of the original with all cuts applied; they never overlap. */
function applied(bytes: Uint8Array, cuts: Cut[]): Uint8Array {
  const ordered = cuts
    .toSorted((a, b) => a.start - b.start || a.end - b.end)
    .map((cut) => ({ ...cut, put: new TextEncoder().encode(cut.put) }));
  const growth = ordered.reduce((sum, { start, end, put }) => sum + put.length - (end - start), 0);
  const result = new Uint8Array(bytes.length + growth);
  let from = 0;
  let to = 0;
  for (const { start, end, put } of ordered) {
    result.set(bytes.subarray(from, start), to);
    to += start - from;
    result.set(put, to);
    to += put.length;
    from = end;
  }
  result.set(bytes.subarray(from), to);
  return result;
}
