import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readLabels } from "#gateway/http/labels.ts";
import { scanJson } from "#gateway/http/scan.ts";
import { LABEL_MAX, TAGS_MAX } from "#shared/labels.ts";
import { utf8 } from "./json-text.ts";

const UUID = "0199a1b2-c3d4-4e5f-8a9b-0c1d2e3f4a5b";
const labels = (headers: Record<string, string>, body: unknown = {}) =>
  readLabels(new Headers(headers), scanJson(utf8(JSON.stringify(body))));
/** A text as the header parser hands it over: a character for each of its UTF-8 bytes. */
const onTheWire = (text: string) => Buffer.from(text, "utf8").toString("latin1");

describe("client", () => {
  test("x-client wins over the user agent", () => {
    expect(labels({ "x-client": " my tool ", "user-agent": "curl/8" }).client).toBe("my tool");
  });

  test("a client of 33 characters is ignored and the user agent decides; 32 characters are kept", () => {
    expect(labels({ "x-client": "c".repeat(33), "user-agent": "curl/8" }).client).toBe("curl");
    expect(labels({ "x-client": "c".repeat(32), "user-agent": "curl/8" }).client).toBe("c".repeat(32));
  });

  test("an empty x-client, or one with a control character, leaves it to the user agent", () => {
    expect(labels({ "x-client": "", "user-agent": "curl/8" }).client).toBe("curl");
    expect(labels({ "x-client": "a\tb", "user-agent": "curl/8" }).client).toBe("curl");
  });
});

describe("session", () => {
  const telemetry = { metadata: { user_id: JSON.stringify({ device_id: "d", session_id: UUID }) } };

  test("x-session-id wins over every other place", () => {
    const headers = { "x-session-id": "run:1", "x-claude-code-session-id": "b", "session-id": "c" };
    expect(labels(headers, telemetry).session as string).toBe("run:1");
  });

  test.each(["s".repeat(65), "with space", "é", "", "a, b"])(
    "the invalid x-session-id %j gives no session, and nothing else stands in for it",
    (session) => {
      expect(labels({ "x-session-id": session, "session-id": "c" }, telemetry).session).toBeNull();
    },
  );

  test("64 characters are kept", () => {
    expect(labels({ "x-session-id": "s".repeat(64) }).session as string).toBe("s".repeat(64));
  });

  test("without it each tool's own place is read, the header before the body", () => {
    const own = { "x-claude-code-session-id": "a", "session-id": "b", session_id: "c" };
    expect(labels(own, telemetry).session as string).toBe("a");
    expect(labels({ "session-id": "b", session_id: "c" }, telemetry).session as string).toBe("b");
    expect(labels({ session_id: "c" }, telemetry).session as string).toBe("c");
    expect(labels({}, telemetry).session as string).toBe(UUID);
  });

  test("the agent's own id is kept beside the one that counts", () => {
    const headers = { "x-session-id": "gs_task", "x-claude-code-session-id": "claude-1" };
    expect(labels(headers)).toMatchObject({ session: "gs_task", agentSession: "claude-1" });
    expect(labels({ "x-session-id": "gs_task", "session-id": "codex-1" })).toMatchObject({
      session: "gs_task",
      agentSession: "codex-1",
    });
    expect(labels({ "x-claude-code-session-id": "claude-1" })).toMatchObject({
      session: "claude-1",
      agentSession: null,
    });
  });

  test("a sub-agent of opencode counts for its parent's session, and under a task for the task's", () => {
    const child = { "x-session-affinity": "ses_child", "x-parent-session-id": "ses_parent" };
    expect(labels({ ...child, "x-session-id": "ses_child" })).toMatchObject({
      session: "ses_parent",
      agentSession: "ses_child",
      parentSession: "ses_parent",
    });
    expect(labels({ ...child, "x-session-id": "gs_task" })).toMatchObject({
      session: "gs_task",
      agentSession: "ses_child",
      parentSession: "ses_parent",
    });
  });

  test("the older form of metadata.user_id carries a session too", () => {
    const userId = `user_${"a".repeat(64)}_account_${UUID}_session_${UUID}`;
    expect(labels({}, { metadata: { user_id: userId } })).toMatchObject({ session: UUID, userLabel: null });
  });
});

describe("tags", () => {
  test("they are trimmed, distinct, in the order sent; an over-long one is dropped whole", () => {
    const header = ` b ,a,,b, ${"t".repeat(65)} ,${"t".repeat(64)}, a\tb ,c`;
    expect(labels({ "x-tags": header }).tags).toEqual(["b", "a", "t".repeat(64), "c"]);
  });

  test("only the first 16 distinct ones are kept", () => {
    const tags = Array.from({ length: 20 }, (_, index) => `t${index}`);
    expect(labels({ "x-tags": ["t0", ...tags].join(",") }).tags).toEqual(tags.slice(0, 16));
  });

  test("UTF-8 is read as it was written, and Latin-1 stays Latin-1", () => {
    expect(labels({ "x-tags": onTheWire("équipe,日本語,😀") }).tags).toEqual(["équipe", "日本語", "😀"]);
    expect(labels({ "x-tags": "équipe" }).tags).toEqual(["équipe"]);
  });
});

describe("user label", () => {
  test("the body's user comes before metadata.user_id", () => {
    expect(labels({}, { user: " ann ", metadata: { user_id: "bob" } }).userLabel).toBe("ann");
    expect(labels({}, { metadata: { user_id: "bob" } }).userLabel).toBe("bob");
  });

  test("over 128 characters, not a string, or half a character: no label", () => {
    for (const user of ["u".repeat(129), 7, null, ["ann"], "", "a\ud800", "a\u0000b"]) {
      expect(labels({}, { user }).userLabel).toBeNull();
    }
    expect(labels({}, { user: "u".repeat(128) }).userLabel).toBe("u".repeat(128));
  });

  test.each([
    JSON.stringify({ device_id: "d", session_id: UUID }),
    JSON.stringify({ device_id: "d" }),
    JSON.stringify({ session_id: "s".repeat(65) }),
    '{"cut',
    `user_x_account_${UUID}_session_${UUID}`,
  ])("the telemetry %j names no person", (userId) => {
    expect(labels({}, { metadata: { user_id: userId } }).userLabel).toBeNull();
  });

  test.each([[null], ["text"], [7], [[]], [{ user_id: 7 }], [{ user_id: null }], [{}]])(
    "metadata %j is no fault and says nothing",
    (metadata) => {
      expect(labels({}, { metadata })).toMatchObject({ session: null, userLabel: null });
    },
  );
});

test("the lineage of agents is read from Claude Code's headers", () => {
  const headers = { "x-claude-code-agent-id": "agent-1", "x-claude-code-parent-agent-id": "p".repeat(129) };
  expect(labels(headers)).toMatchObject({ agentId: "agent-1", parentAgentId: null });
});

test("without a body the headers alone speak", () => {
  expect(readLabels(new Headers({ "x-session-id": "s", "x-tags": "a" }), null)).toEqual({
    client: "unknown",
    session: "s",
    agentSession: null,
    parentSession: null,
    tags: ["a"],
    userLabel: null,
    agentId: null,
    parentAgentId: null,
  } as ReturnType<typeof readLabels>);
});

test("no label ever exceeds its limit, whatever arrives, and none is a shortened one", () => {
  const byte = fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code));
  const header = fc.string({ unit: fc.oneof(byte, fc.constantFrom(",", "a")), maxLength: 200 });
  fc.assert(
    fc.property(
      fc.tuple(header, header, header, header),
      fc.anything(),
      fc.anything(),
      (sent, user, userId) => {
        const [client, session, tags, agent] = sent;
        const headers = new Headers({
          "x-client": client,
          "x-session-id": session,
          "x-tags": tags,
          "x-claude-code-agent-id": agent,
        });
        const body = utf8(JSON.stringify({ user, metadata: { user_id: userId } }));
        const read = readLabels(headers, scanJson(body));
        expect(read.client.length).toBeLessThanOrEqual(LABEL_MAX.client);
        expect(read.session ?? "").toHaveLength(read.session ? session.trim().length : 0);
        expect(read.tags.length).toBeLessThanOrEqual(TAGS_MAX);
        expect(new Set(read.tags).size).toBe(read.tags.length);
        for (const tag of read.tags) expect(tag.length).toBeLessThanOrEqual(LABEL_MAX.tag);
        expect((read.userLabel ?? "").length).toBeLessThanOrEqual(LABEL_MAX.user);
        const whole = new Set(
          tags.split(",").flatMap((tag) => [tag.trim(), Buffer.from(tag, "latin1").toString().trim()]),
        );
        for (const tag of read.tags) expect(whole.has(tag)).toBe(true);
      },
    ),
  );
});
