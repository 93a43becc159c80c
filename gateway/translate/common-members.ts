import { flagAt, ignored, into, located, type MemberReaders, numberAt, textAt } from "./members.ts";
import type { Prompt } from "./prompt.ts";

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

/** Members that steer the gateway, or the provider's storage and caches, and change no answer. */
export const COMMON_IGNORED: MemberReaders = {
  model: ignored,
  route: ignored,
  // Read after the tools that it names.
  tool_choice: ignored,
  // Labels for a store that the provider of the other format does not keep.
  metadata: ignored,
  prompt_cache_key: ignored,
  prompt_cache_options: ignored,
  prompt_cache_retention: ignored,
};
