/** Values of `role` and `type` in vendors' formats. Any other value may be user text. */
const ROLES = "assistant developer function model system tool user";

const TYPES = `
  additional_tools apply_patch_call apply_patch_call_output array audio base64 boolean code_interpreter_call compaction compaction_trigger computer_call
  computer_call_output computer_screenshot content custom custom_tool_call custom_tool_call_output document ephemeral file
  file_search file_search_call function function_call function_call_output grammar image image_generation
  image_generation_call image_url input_audio input_file input_image input_text integer item_reference json_object
  json_schema local_shell local_shell_call local_shell_call_output mcp mcp_approval_request mcp_approval_response mcp_call
  mcp_list_tools mcp_tool_result mcp_tool_use message null number object output_text reasoning reasoning_text
  redacted_thinking refusal search_result server_tool_use shell_call shell_call_output string summary_text text thinking
  tool_reference tool_result tool_use url video video_url web_search web_search_call web_search_tool_result
`;

const KINDS: Readonly<Record<string, ReadonlySet<string>>> = {
  role: new Set(ROLES.split(" ")),
  type: new Set(TYPES.match(/\S+/g)),
};

/** Whether a member only says what kind of object it is in. */
export const saysKind = (name: string, text: string): boolean =>
  Object.hasOwn(KINDS, name) && KINDS[name]?.has(text) === true;
