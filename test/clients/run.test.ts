import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { type Developer, developer } from "#test/support/checkout.ts";
import { startFakeGithub } from "#test/support/fake-github/fake-github.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// `tallygate run` with programs that only show what they are told. test/agents/run.test.ts has the agents themselves.

const github = startFakeGithub();
github.story.addRepository("octo-org/shop");
let gateway: WiredGateway;
let ada: Developer;
let session: string;

beforeAll(async () => {
  gateway = await wiredGateway({ chat: "http://127.0.0.1:9/v1", messages: "http://127.0.0.1:9" });
});

afterAll(() => github.stop());

beforeEach(async () => {
  ada = await developer(github, "octo-org/shop");
  await ada.git("checkout", "--quiet", "-b", "task");
  session = (await ada.tallygate(["session"])).out.trim();
});

const tallygate = (words: readonly string[], env: Record<string, string> = {}) =>
  ada.tallygate(words, { TALLYGATE_URL: gateway.url, TALLYGATE_KEY: gateway.secret, ...env });

test("doctor finds settings that replace the session", async () => {
  const settings = (env: Record<string, string>) =>
    Bun.write(join(ada.home, ".claude/settings.json"), JSON.stringify({ env }));
  await settings({ ANTHROPIC_CUSTOM_HEADERS: "x-session-id: gs_former" });
  const { out } = await tallygate(["doctor", "--local"]);
  expect(out).toMatch(/✗ .*\.claude\/settings\.json sends the session gs_former with every call/);
  await settings({ ANTHROPIC_CUSTOM_HEADERS: "x-team: shop" });
  expect((await tallygate(["doctor", "--local"])).out).toMatch(/✓ Claude Code's own headers .* run/);
});

test("Qwen Code keeps the machine's defaults, and its variables stay out of a shell", async () => {
  const defaults = join(ada.home, "defaults.json");
  await Bun.write(
    defaults,
    '{ "ui": { "theme": "x" }, "model": { "generationConfig": { "customHeaders": { "x-team": "shop" } } } } // a note',
  );
  ada.addProgram("qwen", [
    "sh",
    "-c",
    'cat "$QWEN_CODE_SYSTEM_DEFAULTS_PATH"; echo; echo "$OPENAI_BASE_URL"',
  ]);
  const { out } = await tallygate(["run", "--", "qwen"], { QWEN_CODE_SYSTEM_DEFAULTS_PATH: defaults });
  const [settings = "", address] = out.split("\n");
  expect([JSON.parse(settings), address]).toEqual([
    {
      ui: { theme: "x" },
      model: { generationConfig: { customHeaders: { "x-team": "shop", "x-session-id": session } } },
      security: { auth: { selectedType: "openai" } },
    },
    `${gateway.url}/v1`,
  ]);
  expect((await tallygate(["run", "--", "env"])).out).not.toMatch(/^(OPENAI|QWEN)_/m);
});

test("agents that cannot have a subscription beside the key, or carry no header, are told apart", async () => {
  for (const name of ["opencode", "gemini", "copilot", "qwen", "cline"]) {
    ada.addProgram(name, ["true"]);
    expect(await tallygate(["run", "--subscription", "--", name])).toMatchObject({
      code: 1,
      error: expect.stringContaining("for Claude Code and Codex"),
    });
  }
  // In a shell, what cannot keep its subscription is not led to the organisation's key instead.
  const shell = await tallygate(["run", "--subscription", "--", "env"]);
  expect(shell.out).toContain("x-gateway-lane: subscription");
  expect(shell.out).not.toMatch(/^(GEMINI_API_KEY|GOOGLE_GEMINI_BASE_URL|COPILOT_PROVIDER_API_KEY)=/m);
  expect(await tallygate(["install", "cline"])).toMatchObject({
    code: 2,
    error: expect.stringContaining("Cline cannot carry a branch's session"),
  });
  expect(await tallygate(["run", "--", "cline"])).toMatchObject({
    code: 0,
    error: expect.stringContaining("Cline cannot carry this session"),
  });
});

test("aider, Continue and Droid get the session in a copy of their own settings", async () => {
  ada.addProgram("aider", ["sh", "-c", 'cat "$2"; echo; echo "$OPENAI_API_BASE $3"', "aider"]);
  await Bun.write(
    join(ada.home, ".aider.model.settings.yml"),
    "- name: aider/extra_params\n  extra_params: { max_tokens: 9, extra_headers: { x-team: shop } }\n",
  );
  const [models = "", rest] = (await tallygate(["run", "--", "aider", "--yes"])).out.split("\n");
  expect([JSON.parse(models), rest]).toEqual([
    [
      {
        name: "aider/extra_params",
        extra_params: {
          max_tokens: 9,
          extra_headers: { "x-team": "shop", "x-session-id": session, "x-client": "aider" },
        },
      },
    ],
    `${gateway.url}/v1 --yes`,
  ]);

  ada.addProgram("cn", ["sh", "-c", 'cat "$2"', "cn"]);
  const none = await tallygate(["run", "--", "cn"]);
  expect(none.error).toContain("Continue's calls do not carry this session");
  await Bun.write(
    join(ada.work, "own.yaml"),
    "name: own\nmodels:\n  - { name: m, provider: openai, model: coding, requestOptions: { timeout: 5 } }\n",
  );
  const { out } = await tallygate(["run", "--", "cn", "--config", "own.yaml"]);
  expect(JSON.parse(out)).toEqual({
    name: "own",
    models: [
      {
        ...{ name: "m", provider: "openai", model: "coding" },
        requestOptions: { timeout: 5, headers: { "x-session-id": session, "x-client": "continue" } },
      },
    ],
  });

  ada.addProgram("droid", ["sh", "-c", 'cat "$2"; echo; echo "$3"', "droid"]);
  await Bun.write(
    join(ada.home, ".factory/settings.json"),
    '{ "model": "x", "customModels": [{ "model": "coding", "extraHeaders": { "x-team": "shop" } }] } // mine',
  );
  const droid = (await tallygate(["run", "--", "droid", "exec"])).out.split("\n");
  expect([JSON.parse(droid[0] ?? ""), droid[1]]).toEqual([
    {
      customModels: [
        {
          model: "coding",
          extraHeaders: { "x-team": "shop", "x-session-id": session, "x-client": "droid" },
        },
      ],
    },
    "exec",
  ]);
});

test.each(["goose", "crush", "kilo", "my-agent"])("%s is warned about; a shell is not", async (name) => {
  ada.addProgram(name, ["true"]);
  expect((await tallygate(["run", "--quiet", "--", name])).error).toMatch(/count for no pull request/);
  expect((await tallygate(["run", "--quiet", "--", "sh", "-c", "true"])).error).toBe("");
});
