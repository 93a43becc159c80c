import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { newSession } from "#gateway/cli/stamping/branch-session.ts";
import { readHookInput } from "#gateway/cli/stamping/hook-input.ts";
import { readRemoteAddress } from "#gateway/cli/stamping/remote.ts";
import { stampBody } from "#gateway/cli/stamping/stamp-target.ts";
import { parseSessionId, type SessionId } from "#shared/labels.ts";
import { readSessionLine } from "#shared/session-line.ts";

const SESSION = "gs_task" as SessionId;

describe("a stamped body", () => {
  test("names the session and no other, keeps what was written, and is not stamped twice", () => {
    const piece = fc.constantFrom(
      "text",
      "\n",
      "\r\n",
      "```",
      "> quote",
      "<!--",
      "-->",
      "    code",
      "- item",
      "",
      " ",
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join("\n")),
        (body) => {
          const told = stampBody(body, SESSION);
          if (told.kind !== "stamped") return told.kind === "no_place";
          expect(readSessionLine(told.body).ids).toEqual([SESSION]);
          expect(told.body.replace(`Gateway-Session: ${SESSION}`, "").trim()).toBe(body.trim());
          return stampBody(told.body, SESSION).kind === "same";
        },
      ),
      { numRuns: 300 },
    );
  });

  test.each([
    [null, "Gateway-Session: gs_task"],
    ["Fixes a bug.", "Fixes a bug.\n\nGateway-Session: gs_task"],
    ["One.\r\n\r\nTwo.\r\n", "One.\r\n\r\nTwo.\r\n\r\nGateway-Session: gs_task"],
    ["> quoted\n> Gateway-Session: other", "> quoted\n> Gateway-Session: other\n\nGateway-Session: gs_task"],
    ["```\nopen", "Gateway-Session: gs_task\n\n```\nopen"],
  ])("%j becomes %j", (body, stamped) => {
    expect(stampBody(body, SESSION)).toEqual({ kind: "stamped", body: stamped });
  });

  test("another session, two sessions and a full body are left alone", () => {
    expect(stampBody("gateway-session: other", SESSION)).toEqual({
      kind: "other",
      ids: ["other" as SessionId],
    });
    expect(stampBody("Gateway-Session: a\nGateway-Session: gs_task", SESSION).kind).toBe("conflict");
    expect(stampBody("x".repeat(65_530), SESSION).kind).toBe("too_long");
  });
});

test("new sessions are valid, 29 characters, and ordered by time", () => {
  const made = Array.from({ length: 50 }, () => newSession());
  expect(made.every((id) => parseSessionId(id) !== null && id.length === 29)).toBe(true);
  expect([...made].sort()).toEqual(made);
});

test.each([
  ["https://github.com/octo-org/shop.git", "github.com", "octo-org", "shop"],
  ["https://ada@github.com/octo-org/shop/", "github.com", "octo-org", "shop"],
  ["git@github.com:octo-org/shop.git", "github.com", "octo-org", "shop"],
  ["ssh://git@ssh.github.com:443/octo-org/shop.git", "github.com", "octo-org", "shop"],
  ["ssh://git@ghe.example.com:2222/octo-org/shop.git", "ghe.example.com", "octo-org", "shop"],
  ["http://127.0.0.1:8080/octo-org/my.shop", "127.0.0.1:8080", "octo-org", "my.shop"],
])("the remote %s is %s/%s/%s", (address, host, owner, repository) => {
  expect(readRemoteAddress(address)).toEqual({ host, owner, repository });
});

test.each([
  "/srv/git/shop.git",
  "../shop",
  "file:///srv/git/shop.git",
  "https://github.com/shop",
  "C:\\git\\shop",
])("the remote %s is none of GitHub's", (address) => expect(readRemoteAddress(address)).toBeNull());

describe("an agent's hook", () => {
  test.each([
    [{ tool_name: "Bash", tool_input: { command: "git push && gh pr create --title x" } }, true],
    [{ tool_name: "Bash", tool_input: { command: "gh -R o/r pr edit 3 --body x" } }, true],
    [{ tool_name: "Bash", tool_input: { command: "gh api repos/o/r/pulls -f title=x" } }, true],
    [{ tool_name: "shell", tool_input: { command: ["bash", "-lc", "gh pr create"] } }, true],
    [{ tool_name: "mcp__github__create_pull_request", tool_input: {} }, true],
    [{ toolName: "bash", toolArgs: '{"command":"gh pr merge"}' }, true],
    [{ tool_name: "Bash", tool_input: { command: "gh pr list; echo created" } }, false],
    [{ tool_name: "Bash", tool_input: { command: "ls" } }, false],
    [{ tool_name: "Read", tool_input: { file_path: "gh pr create" } }, false],
  ])("%j concerns a pull request: %p", (input, concerns) => {
    expect(readHookInput(JSON.stringify({ session_id: "s", ...input }))).toMatchObject({
      session: "s",
      concerns,
    });
  });

  test("takes the addresses of pull requests from a tool's output, unless they are a list", () => {
    const address = (number: number) => `https://github.com/octo-org/shop/pull/${number}`;
    const shownIn = (output: unknown) =>
      readHookInput(JSON.stringify({ session_id: "s", tool_response: output, duration_ms: 12 }))?.shown;
    const one = { host: "github.com", owner: "octo-org", repository: "shop", number: 7 };
    for (const output of [address(7), { stdout: `${address(7)}\n${address(7)}/files` }])
      expect(shownIn(output)).toEqual([one]);
    expect(
      readHookInput(JSON.stringify({ session_id: "s", error: `Exit code 3\n${address(7)}` }))?.shown,
    ).toEqual([one]);
    expect(shownIn({ stdout: "https://github.com/octo-org/shop/pull/new/branch" })).toEqual([]);
    expect(shownIn(Array.from({ length: 11 }, (_, i) => address(i + 1)))).toEqual([]);
  });

  test("what is not of that form is nothing, and an id that is none is dropped", () => {
    for (const text of ["", "[]", "null", '{"session_id":1}']) expect(readHookInput(text)).toBeNull();
    expect(readHookInput('{"session_id":"a b"}')?.session).toBeNull();
  });
});
