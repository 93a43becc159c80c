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

/** Later calls may refer to an answer unless the request says otherwise, as at the format's own vendor. */
export const isKept = (body: Json): boolean => body["store"] !== false;

/** The members of a request that its answer in the responses format repeats. */
export function requestEcho(body: Json): Json {
  const said = Object.entries(DEFAULTS).map(([name, otherwise]) => [name, body[name] ?? otherwise]);
  return {
    ...Object.fromEntries(said),
    background: false,
    previous_response_id: null,
    reasoning: body["reasoning"] ?? { effort: null, summary: null },
    store: isKept(body),
    truncation: "disabled",
  };
}
