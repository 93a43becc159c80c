import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type Developer, developer } from "#test/support/checkout.ts";
import { type FakeGithub, startFakeGithub } from "#test/support/fake-github/fake-github.ts";
import type { Repository } from "#test/support/fake-github/world.ts";
import { longTest } from "#test/support/fault-run.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// `tallygate doctor` on a developer's machine: no admin key, no GitHub App, a gateway elsewhere.

let github: FakeGithub;
let repository: Repository;
let gateway: WiredGateway;
let ada: Developer;

beforeAll(async () => {
  gateway = await wiredGateway({ chat: "http://127.0.0.1:9/v1", messages: "http://127.0.0.1:9" });
  github = startFakeGithub();
  repository = github.story.addRepository("octo-org/shop");
});
afterAll(() => {
  expect(github.faults()).toEqual([]);
  github.stop();
});
beforeEach(async () => {
  ada = await developer(github, repository.fullName, { gh: true });
});

const doctor = (more: Record<string, string> = {}, words: string[] = []) =>
  ada.tallygate(["doctor", ...words], { TALLYGATE_URL: gateway.url, TALLYGATE_KEY: gateway.secret, ...more });
const write = (path: string, text: string | object) =>
  Bun.write(join(ada.home, path), typeof text === "string" ? text : JSON.stringify(text));

test("nothing is wrong on a laptop with an agent, its hook, and a stamped pull request", async () => {
  expect((await ada.tallygate(["install", "claude", "gemini", "copilot"])).code).toBe(0);
  await ada.git("checkout", "--quiet", "-b", "fine");
  await ada.tallygate(["session"]);
  await github.story.openPullRequest({ repository, headRef: "fine", body: null });
  expect((await ada.tallygate(["pr", "stamp"])).code).toBe(0);
  const { code, out, error } = await doctor();
  expect([code, error], out).toEqual([0, ""]);
  expect(out).toContain("✓ A call of echo is answered");
  expect(out).toContain("✓ Claude Code has the hook that stamps pull requests.");
  expect(out).toContain("– Claude Code calls its vendor directly, unless `tallygate run` starts it.");
  expect(out).toEndWith("\nNo problems found.\n");
});

longTest("clients/tallygate (doctor follows a call and a pull request), cli/agents")(
  "without a key nothing is said to work that was not tried",
  async () => {
    const { code, out } = await ada.tallygate(["doctor", "--local"], { TALLYGATE_URL: gateway.url });
    expect(code, out).toBe(0);
    expect(out).toContain("– No call was made.");
    expect(out).toEndWith("\nNo problems found, but no call was made: whether calls work is not known.\n");
  },
);

test("address and key are those of the agents' own settings, if no variable names them", async () => {
  await write(".claude/settings.json", {
    env: { ANTHROPIC_BASE_URL: gateway.url, ANTHROPIC_AUTH_TOKEN: gateway.secret },
  });
  const { code, out } = await ada.tallygate(["doctor"]);
  expect(code, out).toBe(0);
  expect(out).toContain(`✓ The gateway at ${gateway.url} is ready.`);
  expect(out).toContain("✓ A call of echo is answered");
  expect(out).toMatch(/✓ Claude Code calls the gateway \(.*\.claude\/settings\.json\)/);
});

longTest("clients/tallygate (doctor follows a call and a pull request), cli/agents")(
  "outside a checkout of a repository on GitHub, no access to GitHub is needed",
  async () => {
    const alone = await developer(github, repository.fullName);
    await alone.git("remote", "remove", "origin");
    const { code, out } = await alone.tallygate(["doctor"], {
      TALLYGATE_URL: gateway.url,
      TALLYGATE_KEY: gateway.secret,
    });
    expect(code, out).toBe(0);
    expect(out).toContain(`– This directory is not a checkout of a repository on ${github.host}.`);
  },
);

longTest("clients/tallygate (doctor follows a call and a pull request), cli/agents")(
  "a key for a few routes is fine without a call",
  async () => {
    const { secret } = await gateway.admin<{ secret: string }>("POST", "/keys", {
      name: "narrow",
      scopes: { routes: ["chat"] },
    });
    const { code, out } = await doctor({ TALLYGATE_KEY: secret });
    expect(code, out).toBe(0);
    expect(out).toContain("– The gateway accepts the key. No call was made.");
  },
);

describe("it finds", () => {
  const expectWrong = async (
    what: string | RegExp,
    remedy: string,
    more: Record<string, string> = {},
  ): Promise<void> => {
    const { code, out } = await doctor(more);
    expect(out).toMatch(what);
    expect(out).toContain(remedy);
    expect(code).toBe(1);
  };

  longTest("clients/tallygate (doctor follows a call and a pull request), cli/agents")(
    "an address where nothing answers, something else answers, or that has a path",
    async () => {
      const other = Bun.serve({
        port: 0,
        hostname: "127.0.0.1",
        fetch: () => new Response("?", { status: 404 }),
      });
      await expectWrong("✗ The gateway at http://127.0.0.1:9 does not answer.", "TALLYGATE_URL", {
        TALLYGATE_URL: "http://127.0.0.1:9",
      });
      await expectWrong(/✗ The server at .* is not a Tallygate gateway/, "TALLYGATE_URL", {
        TALLYGATE_URL: `http://127.0.0.1:${other.port}`,
      });
      await expectWrong("✗ The gateway's address has no path", `Set TALLYGATE_URL=${gateway.url}.`, {
        TALLYGATE_URL: `${gateway.url}/v1`,
      });
      await other.stop(true);
    },
  );

  longTest("clients/tallygate (doctor follows a call and a pull request), cli/agents")(
    "a key that is unknown, revoked, cut off, or an administrator's",
    async () => {
      const key = await gateway.admin<{ id: string; secret: string }>("POST", "/keys", { name: "gone" });
      await gateway.admin("DELETE", `/keys/${key.id}`);
      for (const [TALLYGATE_KEY, remedy] of [
        [key.secret, "unknown, expired or revoked. Get a new one"],
        [`tg_${"0".repeat(43)}`, "unknown, expired or revoked. Get a new one"],
        [gateway.secret.slice(0, -1), "Was all of it copied?"],
        [`tga_${"0".repeat(43)}`, "This is an admin key"],
      ] as const) {
        await expectWrong("✗ A call of echo got status 401.", remedy, { TALLYGATE_KEY });
      }
    },
  );

  test("an agent that bypasses the gateway, and how to lead it there", async () => {
    await write(".claude/settings.json", {
      env: { ANTHROPIC_BASE_URL: "https://user:word@elsewhere.example/x" },
    });
    const provider = (url: string) =>
      `model_provider = "own"\n[model_providers.own]\nname = "own"\nbase_url = "${url}"\nwire_api = "responses"\n`;
    await write(".codex/config.toml", provider("https://codex.example/v1"));
    await write(".config/opencode/opencode.json", "{ // no provider of the gateway\n}");
    const { code, out } = await doctor();
    expect(code).toBe(1);
    expect(out).toMatch(
      /✗ Claude Code bypasses the gateway: .*settings\.json sends its calls to elsewhere\.example\./,
    );
    expect(out).not.toContain("word@");
    expect(out).toContain(`set ANTHROPIC_BASE_URL=${gateway.url}`);
    expect(out).toMatch(/✗ Codex bypasses the gateway: .*config\.toml sends its calls to codex\.example\./);
    expect(out).toContain("✗ opencode bypasses the gateway: it calls its vendor directly.");
    expect(out).toContain(`baseURL "${gateway.url}/v1"`);

    await write(".claude/settings.json", { env: { ANTHROPIC_BASE_URL: gateway.url } });
    await write(".codex/config.toml", provider(`${gateway.url}/v1`));
    const options = { baseURL: `${gateway.url}/v1`, apiKey: "{env:TALLYGATE_KEY}" };
    await write(".config/opencode/opencode.json", { provider: { gateway: { options } } });
    const mended = await doctor();
    expect(mended.code, mended.out).toBe(0);
    for (const name of ["Claude Code", "Codex", "opencode"]) {
      expect(mended.out).toContain(`✓ ${name} calls the gateway`);
    }
  });

  longTest("clients/tallygate (doctor follows a call and a pull request), cli/agents")(
    "an agent that neither its settings nor `tallygate run` connects to the gateway",
    async () => {
      await ada.tallygate(["install", "claude"]);
      const { code, out } = await ada.tallygate(["doctor", "--url", gateway.url]);
      expect(code).toBe(1);
      expect(out).toContain("✗ Claude Code bypasses the gateway: it calls its vendor directly.");
    },
  );

  longTest("clients/tallygate (doctor follows a call and a pull request), cli/agents")(
    "an agent that `install` set up, and whose key is gone, of another gateway, or revoked",
    async () => {
      const login = (url: string, key: string) =>
        write(".config/tallygate/login.json", { url, key, email: null });
      const key = await gateway.admin<{ id: string; secret: string }>("POST", "/keys", { name: "laptop" });
      await login(gateway.url, key.secret);
      const found = async () => {
        const { code, out } = await ada.tallygate(["doctor", "--local"]);
        return [code, out] as const;
      };
      const installed = ["install", "claude", "codex", "opencode", "gemini", "copilot"];
      expect((await ada.tallygate(installed, { SHELL: "/bin/bash" })).code).toBe(0);
      const [fine, all] = await found();
      expect(all).toMatch(/✓ Claude Code calls the gateway \(.*settings\.json\)/);
      expect(all).toMatch(/✓ Codex calls the gateway \(.*config\.toml\)/);
      expect(all).toMatch(/✓ opencode calls the gateway \(.*tallygate-gateway\.js\)/);
      expect(all).toMatch(/✓ Gemini CLI calls the gateway \(.*\.bashrc\)/);
      expect(all).toMatch(/✓ Copilot CLI calls the gateway \(.*\.bashrc\)/);
      expect(fine, all).toBe(0);

      const profile = await Bun.file(join(ada.home, ".bashrc")).text();
      await write(".bashrc", profile.replace("gateway/cli/tallygate.ts", "gone/tallygate.ts"));
      expect((await found())[1]).toMatch(
        /✗ Gemini CLI has no key: it runs .*gone\/tallygate\.ts, which does not exist\./,
      );

      await login("http://127.0.0.1:9", key.secret);
      const moved = await ada.tallygate(["doctor", "--local"], { TALLYGATE_URL: gateway.url });
      for (const name of ["Claude Code", "Codex"]) {
        expect(moved.out).toContain(
          `✗ ${name} has no key for ${gateway.url}: this computer is signed in at http://127.0.0.1:9.`,
        );
      }
      expect(await ada.tallygate(["key", "--url", gateway.url])).toMatchObject({ code: 1, out: "" });

      await ada.run(["rm", join(ada.home, ".config/tallygate/login.json")]);
      const away = await ada.tallygate(["doctor", "--local"], { TALLYGATE_URL: gateway.url });
      expect(away.out).toContain("this computer is not signed in.");
      expect(away.out).toContain(`Run \`tallygate login --url ${gateway.url}\``);

      await login(gateway.url, key.secret);
      await gateway.admin("DELETE", `/keys/${key.id}`);
      const [wrong, revoked] = await found();
      expect(revoked).toContain("✗ A call of echo got status 401.");
      expect(revoked).toContain("Get a new one with `tallygate login`");
      expect(wrong).toBe(1);
    },
  );

  longTest("clients/tallygate (doctor follows a call and a pull request), cli/agents")(
    "settings that give every call one session",
    async () => {
      await write(
        ".codex/config.toml",
        [
          `model_provider = "own"\n[model_providers.own]\nname = "own"\nbase_url = "${gateway.url}/v1"`,
          `wire_api = "responses"\nhttp_headers = { "x-session-id" = "gs_fixed" }\n`,
        ].join("\n"),
      );
      await expectWrong(
        /✗ Codex: .*config\.toml sends the session gs_fixed with every call/,
        "Remove x-session-id from it",
      );
      await expectWrong(
        "✗ Copilot CLI: COPILOT_PROVIDER_HEADERS sends the session gs_shell with every call",
        "Remove x-session-id from it",
        { COPILOT_PROVIDER_HEADERS: "x-session-id: gs_shell", COPILOT_HOME: ada.home },
      );
    },
  );

  longTest("clients/tallygate (doctor follows a call and a pull request), cli/agents")(
    "a hook that cannot run: its checkout is gone, or hooks are switched off",
    async () => {
      await ada.tallygate(["install", "claude"]);
      const path = join(ada.home, ".claude/settings.json");
      const installed = await Bun.file(path).text();
      await Bun.write(path, installed.replaceAll("gateway/cli/stamp-hook.ts", "gone/stamp-hook.ts"));
      await expectWrong(
        /✗ Claude Code's hook runs .*gone\/stamp-hook\.ts, which does not exist/,
        "tallygate install claude",
      );
      await Bun.write(path, JSON.stringify({ ...JSON.parse(installed), disableAllHooks: true }));
      await expectWrong("✗ Claude Code does not run hooks", "Remove disableAllHooks");
    },
  );

  longTest("clients/tallygate (doctor follows a call and a pull request), cli/agents")(
    "a pull request without a stamp",
    async () => {
      await ada.git("checkout", "--quiet", "-b", "bare");
      await github.story.openPullRequest({ repository, headRef: "bare", body: "A thing." });
      await expectWrong(/✗ .* is not stamped\./, "Stamp it: `tallygate pr stamp`.");
    },
  );
});

longTest("clients/tallygate (doctor follows a call and a pull request), cli/agents")(
  "for a shell whose profile is unknown, or with --no-profile, `install` shows the functions that start agents",
  async () => {
    await write(".config/tallygate/login.json", { url: gateway.url, key: gateway.secret, email: null });
    const unknown = await ada.tallygate(["install", "gemini", "copilot"], { SHELL: "/bin/sh" });
    const { code, out } = await ada.tallygate(["install", "gemini", "copilot", "--no-profile"], {
      SHELL: "/bin/bash",
    });
    expect(code).toBe(0);
    expect(out).not.toContain(gateway.secret);
    expect(await Bun.file(join(ada.home, ".bashrc")).exists()).toBe(false);
    const functions = (text: string) => text.split("\n").filter((line) => line.startsWith("  function "));
    expect(functions(unknown.out)).toEqual(functions(out));
    for (const name of ["gemini", "copilot"]) ada.addProgram(name, ["env"]);
    await ada.git("checkout", "--quiet", "-b", "task");
    const session = (await ada.tallygate(["session"])).out.trim();
    const set = await ada.run(["bash", "-c", [...functions(out), "gemini", "copilot"].join("\n")]);
    for (const expected of [
      `GOOGLE_GEMINI_BASE_URL=${gateway.url}`,
      `GEMINI_API_KEY=${gateway.secret}`,
      `GEMINI_CLI_CUSTOM_HEADERS=x-session-id:${session}`,
      `COPILOT_PROVIDER_BASE_URL=${gateway.url}/v1`,
      `COPILOT_PROVIDER_API_KEY=${gateway.secret}`,
      `COPILOT_PROVIDER_HEADERS=x-session-id: ${session}`,
    ]) {
      expect(set.out.split("\n")).toContain(expected);
    }
  },
);

longTest("clients/tallygate (doctor follows a call and a pull request), cli/agents")(
  "agents whose settings or variables name another gateway or sign-in get no function",
  async () => {
    await write(".config/tallygate/login.json", { url: gateway.url, key: gateway.secret, email: null });
    const own = { security: { auth: { selectedType: "oauth-personal" } } };
    await write(".gemini/settings.json", own);
    await write(".qwen/settings.json", { security: { auth: { selectedType: "qwen-oauth" } } });
    const { code, error } = await ada.tallygate(["install", "gemini", "copilot", "qwen"], {
      SHELL: "/bin/bash",
      COPILOT_PROVIDER_BASE_URL: "https://other.example/v1",
    });
    expect(code).toBe(1);
    expect(error).toContain('it already signs in with "oauth-personal"');
    expect(error).toContain('it already signs in with "qwen-oauth"');
    expect(error).toContain("COPILOT_PROVIDER_BASE_URL names another gateway");
    expect(await Bun.file(join(ada.home, ".bashrc")).exists()).toBe(false);
    expect(await Bun.file(join(ada.home, ".gemini/settings.json")).json()).toMatchObject(own);
  },
);

describe("Codex's hook", () => {
  /** Says what Codex's app server says, and keeps what it is told to. */
  const appServer = () =>
    ada.addProgram("codex", [process.execPath, join(import.meta.dir, "../support/stand-in/codex.ts")]);

  test("that nobody has agreed to is found; `install --trust` agrees, and uninstall takes it back", async () => {
    appServer();
    const installed = await ada.tallygate(["install", "codex"]);
    expect(installed.out).toContain("`codex exec` never asks; in CI, add --trust.");
    const before = await doctor();
    expect(before.out).toContain(
      "✗ Codex does not run the hook that stamps pull requests: it is not approved yet.",
    );
    expect(before.out).toContain("`tallygate install codex --trust`");
    expect(await ada.tallygate(["install", "codex", "--trust"])).toMatchObject({
      code: 0,
      out: expect.stringContaining("codex: trusts the hook."),
    });
    expect((await doctor()).out).toContain(
      "✓ Codex has the hook that stamps pull requests, and it is approved.",
    );
    expect((await ada.tallygate(["uninstall", "codex"])).code).toBe(0);
    expect(await Bun.file(join(ada.home, ".codex/config.toml")).exists()).toBe(false);
  });

  longTest("clients/tallygate (doctor follows a call and a pull request), cli/agents")(
    "is not said to be trusted where there is no Codex, or one that is too old to say",
    async () => {
      expect(await ada.tallygate(["install", "codex", "--trust"])).toMatchObject({
        code: 1,
        error: expect.stringContaining("its hook is not approved: Codex is not on the PATH"),
      });
      ada.addProgram("codex", ["false"]);
      expect((await doctor()).out).toContain("Whether it is approved could not be checked: start `codex`.");
    },
  );
});
