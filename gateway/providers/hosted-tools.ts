import { countOf, objectOf, type ProviderObject } from "./provider-json.ts";

/**
 * Whether the provider ran tools of its own for the answer, which it bills besides tokens (xAI's
 * `server_side_tool_usage_details`; a count of any name).
 */
export const ranHostedTools = (usage: ProviderObject | null): boolean =>
  Object.values(objectOf(usage?.["server_side_tool_usage_details"]) ?? {}).some(
    (count) => (countOf(count) ?? 0) > 0,
  );
