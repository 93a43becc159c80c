import type { HookPolicy } from "../directory.ts";
import { matchesGlob } from "../routing/glob.ts";
import type { ToolName } from "./tool-name.ts";

export type RequestedToolCall = { client: string; name: ToolName; rawName: string };

/**
 * The first policy, by name, that denies a call. `tool` matches the tool's own name or the agent's name for it
 * (`mcp__server__tool`); a policy with `server` never matches a built-in tool.
 */
export const denying = (policies: readonly HookPolicy[], call: RequestedToolCall): HookPolicy | null =>
  policies.find(
    ({ client, tool, server }) =>
      fits(client, call.client) &&
      (fits(tool, call.rawName) || (call.name.tool !== null && fits(tool, call.name.tool))) &&
      (server === null || (call.name.server !== null && fits(server, call.name.server))),
  ) ?? null;

const fits = (glob: string | null, text: string): boolean => glob === null || matchesGlob(glob, text);
