import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type ChatCompletionRequest, LLMock } from "@copilotkit/aimock";
import { agentProgram } from "#test/support/agents.ts";
import { type Developer, developer } from "#test/support/checkout.ts";
import { startFakeGithub } from "#test/support/fake-github/fake-github.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// The stamping hook in Codex as it is published, which runs a hook only after its user has agreed to it.

const codex = await agentProgram("codex");

const github = startFakeGithub();
const repository = github.story.addRepository("octo-org/shop");
let gateway: WiredGateway;
let ada: Developer;

beforeAll(async () => {
  gateway = await wiredGateway({ chat: "http://127.0.0.1:9/v1", messages: "http://127.0.0.1:9" });
  ada = await developer(github, repository.fullName, { gh: true });
});
afterAll(() => github.stop());

const doctor = () => ada.tallygate(["doctor"], { TALLYGATE_URL: gateway.url, TALLYGATE_KEY: gateway.secret });
const write = (path: string, text: string) => Bun.write(join(ada.home, path), text);

describe.skipIf(codex === null)("Codex's hook", () => {
  const COMMAND = "git commit -q --allow-empty -m work";
  let vendor: LLMock;
  beforeAll(async () => {
    vendor = await LLMock.create({ port: 0 });
    const usage = { input_tokens: 210, output_tokens: 12 };
    const predicate = (request: ChatCompletionRequest) =>
      request.tools?.some(({ function: it }) => it.name === "exec_command") === true;
    const call = { name: "exec_command", arguments: JSON.stringify({ cmd: COMMAND }), id: "call_commit" };
    vendor.on({ hasToolResult: false, predicate }, { toolCalls: [call], usage });
    vendor.on({}, { content: "Done.", usage });
  });
  afterAll(() => vendor.stop());

  test("that nobody has agreed to is found; `codex exec` runs it once `install --trust` has agreed", async () => {
    ada.addProgram("codex", codex ?? []);
    const config = [
      'model_provider = "own"\napproval_policy = "never"\nsandbox_mode = "danger-full-access"',
      "check_for_update_on_startup = false",
      `[model_providers.own]\nname = "own"\nbase_url = "${vendor.url}/v1"\nwire_api = "responses"`,
    ];
    await write(".codex/config.toml", `${config.join("\n")}\n`);
    const installed = await ada.tallygate(["install", "codex"]);
    expect(installed.out).toContain("`codex exec` never asks; in CI, add --trust.");
    await ada.git("checkout", "--quiet", "-b", "in-ci");
    /** What the hook leaves: the branch's session. */
    const ran = async () => {
      const exec = await ada.run(["codex", "exec", "--json", "-m", "gpt-5", "Commit."], {
        NO_PROXY: "127.0.0.1",
        HTTPS_PROXY: "http://127.0.0.1:9",
      });
      expect(exec.out, exec.error).toContain("Done.");
      return await ada.run(["git", "config", "branch.in-ci.gateway-session"]);
    };
    expect((await ran()).out).toBe("");
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
    expect((await ran()).out).toMatch(/^[0-9a-f-]{36}\n$/);
  });
});
