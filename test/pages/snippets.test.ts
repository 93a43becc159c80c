import { beforeAll, expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { LLMock } from "@copilotkit/aimock";
import { browserOf } from "#gateway/pages/me/own-lists.tsx";
import { SNIPPETS } from "#gateway/pages/me/snippets.ts";
import { atEnd } from "#test/support/at-end.ts";
import { scratch } from "#test/support/embedded.ts";
import { casesOf } from "#test/support/fault-run.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";

// The samples of "Connect an agent" are run as they are shown.

const SESSION = "task-a1b2c3";
let gateway: LocalGateway;
let key: string;

beforeAll(async () => {
  const vendor = await LLMock.create({ port: 0 });
  atEnd(() => vendor.stop());
  vendor.on({}, { content: "Done." });
  gateway = await localGateway({ dataDir: `${scratch().path}/gateway` });
  const provider = {
    kind: "openai",
    base_url: `${vendor.url}/v1`,
    credential: "sk",
    allow_private_network: true,
  };
  await gateway.admin("PUT", "/providers/openai", provider);
  await gateway.admin("PUT", "/routes/coding", { surface: "chat", provider: "openai", model: "gpt-5.1" });
  const scopes = { routes: ["coding"] };
  key = (
    await gateway.admin<{ secret: string }>("POST", "/keys", { name: "a", owner: "a@example.com", scopes })
  ).secret;
});

const blocksOf = (name: string, address = gateway.url) =>
  SNIPPETS.find((it) => it.name === name)?.blocks({ address, key, model: "coding", session: SESSION }) ?? [];
const textOf = (name: string, title: string) => blocksOf(name).find((it) => it.title === title)?.text ?? "";

const run = async (command: string[], env: Record<string, string | undefined> = process.env) => {
  const child = Bun.spawn(command, { env, stdio: ["ignore", "pipe", "pipe"] });
  return `${await new Response(child.stdout).text()}${await new Response(child.stderr).text()}`;
};

const sessions = async () =>
  (
    await gateway.admin<{ data: { session: string; route: string }[] }>("GET", "/requests?limit=100")
  ).data.filter((it) => it.session === SESSION && it.route === "coding").length;

// The console's walk runs the other one.
test.each(casesOf(["Anthropic SDK", "OpenAI SDK"]))(
  "the sample for the %s runs, and its call has route and session",
  async (name) => {
    const before = await sessions();
    // In the checkout, where the vendors' packages are.
    const path = join(import.meta.dir, `hello-${crypto.randomUUID()}.mjs`);
    atEnd(() => Bun.file(path).delete());
    await Bun.write(path, textOf(name, "hello.mjs"));
    expect(await run([process.execPath, path])).toBe("Done.\n");
    expect(await sessions()).toBe(before + 1);
  },
);

test("the sample for curl runs, and its call has route and session", async () => {
  const before = await sessions();
  expect(await run(["sh", "-c", textOf("curl", "In a shell")])).toContain('"Done."');
  expect(await sessions()).toBe(before + 1);
});

test.skipIf(Bun.which("python3") === null)("the sample for Python compiles", async () => {
  const path = `${scratch().path}/hello.py`;
  await Bun.write(path, textOf("Python", "hello.py"));
  expect(await run(["python3", "-m", "py_compile", path])).toBe("");
});

const AGENTS: [string, string, string[]][] = [
  ["Claude Code", "claude", ["ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS"]],
  ["Codex", "codex", ["TALLYGATE_KEY"]],
  ["Gemini CLI", "gemini", ["GOOGLE_GEMINI_BASE_URL", "GEMINI_API_KEY", "GEMINI_CLI_CUSTOM_HEADERS"]],
  ["opencode", "opencode", []],
];

test.each(casesOf(AGENTS))(
  "the sample for %s starts it with address, key, route, session and a prompt",
  async (name, program, variables) => {
    const { path } = scratch();
    const lines = [...variables.map((it) => `echo "$${it}"`), `for word in "$@"; do echo "$word"; done`];
    await Bun.write(`${path}/${program}`, ["#!/bin/sh", ...lines].join("\n"));
    chmodSync(`${path}/${program}`, 0o755);
    const file = textOf(name, "opencode.json");
    const started = await run(["sh", "-c", textOf(name, "In a shell")], {
      PATH: `${path}:${process.env["PATH"]}`,
    });
    const said = started + (file && JSON.stringify(JSON.parse(file)));
    for (const text of [gateway.url, key, "coding", SESSION, "Say hello."])
      expect([name, said]).toEqual([name, expect.stringContaining(text)]);
  },
);

test("texts of any kind are quoted in every sample", () => {
  const odd = { address: "http://a", key: `it's "odd" $(x)`, model: "m`x`", session: "s" };
  for (const { name, blocks } of SNIPPETS) {
    for (const { title, text } of blocks(odd)) {
      if (title !== "In a shell") continue;
      const { exitCode } = Bun.spawnSync(["sh", "-n", "-c", text]);
      expect([name, exitCode]).toEqual([name, 0]);
    }
  }
  const curl = SNIPPETS.find(({ name }) => name === "curl")?.blocks(odd)[0]?.text ?? "";
  const { stdout } = Bun.spawnSync(["sh", "-c", curl.replace(/^curl/, "printf '%s\\n'")]);
  expect(String(stdout)).toContain(`authorization: Bearer ${odd.key}`);
});

test.each([
  [
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36",
    "Chrome on Linux",
  ],
  [
    "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0 Safari/537.36 Edg/143.0",
    "Edge on Windows",
  ],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 26_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Mobile/15E148 Safari/604.1",
    "Safari on iOS",
  ],
  [
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:145.0) Gecko/20100101 Firefox/145.0",
    "Firefox on macOS",
  ],
  ["curl/8.16.0", "curl/8.16.0"],
])("a sign-in from %s is one from %s", (agent, name) => expect(browserOf(agent)).toBe(name));
