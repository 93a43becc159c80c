import { expect, test } from "bun:test";
import { join } from "node:path";
import { forwarder } from "#gateway/cli/agents/managed.ts";
import type { HookPolicy } from "#gateway/directory.ts";
import { readToolName } from "#gateway/hooks/event.ts";
import { denying } from "#gateway/hooks/receive.ts";

const policy = (name: string, overrides: Partial<HookPolicy>): HookPolicy => ({
  name,
  client: null,
  tool: "*",
  server: null,
  reason: "no",
  ...overrides,
});

const registered = (server: string) => server === "github";
const named = (rawName: string, client = "claude-code", server: string | null = null) => ({
  client,
  rawName,
  name: readToolName(rawName, server, registered),
});

test.each([
  [{ tool: "Bash" }, named("Bash"), true],
  [{ tool: "bash" }, named("Bash"), false],
  [{ tool: "Web*" }, named("WebFetch"), true],
  [{ tool: "delete_*" }, named("mcp__github__delete_repo"), true],
  [{ tool: "mcp__github__*" }, named("mcp__github__delete_repo"), true],
  // Through the tool gateway the tool is its server's, however the agent knows the gateway.
  [{ tool: "delete_*", server: "github" }, named("mcp__tools__github__delete_repo"), true],
  [{ tool: "delete_*", server: "tools" }, named("mcp__tools__other__delete_repo"), false],
  [{ server: "*" }, named("Bash"), false],
  [{ server: "*" }, named("mcp__x__y"), true],
  [{ client: "codex" }, named("Bash"), false],
  [{ client: "codex*" }, named("Bash", "codex_exec"), true],
])("%j", (rule, call, denied) => {
  expect(denying([policy("p", rule)], call) !== null).toBe(denied);
});

test("the first policy by name gives the reason", () => {
  const policies = [policy("a", { tool: "X" }), policy("b", {}), policy("c", {})];
  expect(denying(policies, named("Bash"))?.name).toBe("b");
});

test.each([
  ["Bash", null, { server: null, tool: "Bash" }],
  ["mcp__s__t", null, { server: "s", tool: "t" }],
  ["mcp__s__t__u", null, { server: "s", tool: "t__u" }],
  ["mcp__tools__github__t__u", null, { server: "github", tool: "t__u" }],
  ["mcp__plugin_p_s__t", "s", { server: "s", tool: "t" }],
  ["mcp____t", null, { server: null, tool: "mcp____t" }],
  ["create_issue", "github", { server: "github", tool: "create_issue" }],
  ["x".repeat(129), null, { server: null, tool: null }],
  ["a\u0000b", null, { server: null, tool: null }],
  [7, null, { server: null, tool: null }],
])("%j of %j is %j", (name, server, read) => {
  expect(readToolName(name, server, registered)).toEqual(read);
});

test("the page shows the command that forwards hooks", async () => {
  const page = await Bun.file(join(import.meta.dir, "../../gateway/hooks/README.md")).text();
  expect(page).toContain(forwarder("http://127.0.0.1:8787/", "codex"));
});
