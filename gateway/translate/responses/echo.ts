import type { Json } from "../exact-json.ts";

/** Members of the request that an answer repeats, with their defaults. */
const DEFAULTS: Json = {
  instructions: null,
  max_output_tokens: null,
  metadata: {},
  parallel_tool_calls: true,
  temperature: 1,
  text: { format: { type: "text" } },
  tool_choice: "auto",
  tools: [],
  top_p: 1,
  user: null,
};

/** What an answer in the responses format repeats of its request. `store` is false: nothing is stored. */
export function requestEcho(body: Json): Json {
  const said = Object.entries(DEFAULTS).map(([name, otherwise]) => [name, body[name] ?? otherwise]);
  return {
    ...Object.fromEntries(said),
    background: false,
    previous_response_id: null,
    reasoning: body["reasoning"] ?? { effort: null, summary: null },
    store: false,
    truncation: "disabled",
  };
}
