import { type Json, wordOf } from "./exact-json.ts";
import { ignored, into, type MemberReader, type MemberReaders } from "./members.ts";
import type { BodyPlace } from "./place.ts";
import { EFFORTS, type Part, type Prompt } from "./prompt.ts";
import { flagAt, listAt, located, numberAt, objectAt, oneOfAt, textAt } from "./values.ts";

/** Reads how much to reason, in a word. */
export const effortInto = (prompt: Prompt): MemberReader =>
  into(
    prompt.reasoning,
    "effort",
    located((value, at) => oneOfAt(value, at, EFFORTS)),
  );

/** Members that the chat and the responses format share, without those that the translation ignores. */
export const commonReaders = (prompt: Prompt): MemberReaders => ({
  temperature: into(prompt, "temperature", located(numberAt)),
  top_p: into(prompt, "topP", located(numberAt)),
  parallel_tool_calls: into(prompt, "parallelTools", located(flagAt)),
  user: into(prompt, "user", textAt),
  safety_identifier: (value, at) => {
    prompt.user ??= textAt(value, at);
  },
  stream: into(prompt, "streamed", flagAt),
  service_tier: extraInto(prompt, "service_tier", ["auto", "default"]),
  // Labels, and the provider's cache: the answer is the same.
  metadata: extraInto(prompt, "metadata"),
  prompt_cache_key: extraInto(prompt, "prompt_cache_key"),
  prompt_cache_options: extraInto(prompt, "prompt_cache_options"),
  prompt_cache_retention: extraInto(prompt, "prompt_cache_retention"),
});

/** Reads a member that not all formats have, by its name in the chat format. The `usual` values mean the default and are dropped, as is an empty object. */
export const extraInto =
  (prompt: Prompt, name: string, usual: readonly string[] = []): MemberReader =>
  (value, at) => {
    if ([...usual, "{}"].includes(wordOf(value))) at.drop();
    else prompt.extras.set(name, { value, at });
  };

/** Members of both formats that the messages format and the gateway's providers of the chat format have no use for. */
export const COMMON_LEFT_OUT: MemberReaders = {
  // Read by the gateway itself.
  model: ignored,
  route: ignored,
  // Read after the tools that it names.
  tool_choice: ignored,
};

/** Reads texts that end the answer: one, or a list. */
export const stopInto =
  (prompt: { stop: string[]; stopAt: BodyPlace | null }): MemberReader =>
  (value, at) => {
    const list = typeof value === "string" ? [value] : listAt(value, at);
    prompt.stop = list.map((one, index) => textAt(one, at.item(index)));
    prompt.stopAt = at;
  };

/** Reads a cache mark; elsewhere providers cache unasked. */
export const cacheInto =
  (marked: { cache: Json | null }): MemberReader =>
  (value, at) => {
    marked.cache = objectAt(value, at);
    if (!at.losses.cacheMarks) at.drop();
  };

/** A cache mark on what consists of parts means one on the last of them. */
export function marked({ parts, cache }: { parts: Part[]; cache: Json | null }): Part[] {
  const last = parts.at(-1);
  return cache && last && "cache" in last ? [...parts.slice(0, -1), { ...last, cache }] : parts;
}
