import {
  dropped,
  flagAt,
  ignored,
  into,
  located,
  type MemberReader,
  type MemberReaders,
  numberAt,
  oneOfAt,
  textAt,
} from "./members.ts";
import { EFFORTS, type Prompt } from "./prompt.ts";

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
});

/** Members of both formats that the messages format and the gateway's providers of the chat format have no use for. */
export const COMMON_LEFT_OUT: MemberReaders = {
  // Read by the gateway itself.
  model: ignored,
  route: ignored,
  // Read after the tools that it names.
  tool_choice: ignored,
  // Labels for a store that the provider of the other format does not keep.
  metadata: dropped,
  // The provider's cache: the answer is the same.
  prompt_cache_key: dropped,
  prompt_cache_options: dropped,
  prompt_cache_retention: dropped,
};
