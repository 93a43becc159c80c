import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LLMock } from "@copilotkit/aimock";
import { type Browser, signIn } from "#test/identity/browser.ts";
import { agentProgram, runAgent } from "#test/support/agents.ts";
import { until } from "#test/support/until.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// Claude Code as it is published, signed in to the gateway by its own protocol. The suite starts it once for each command.

const claude = await agentProgram("claude-code");
const program = claude ?? [];
const ENV = { DISABLE_AUTOUPDATER: "1" };
const ANSWER = "Hello from the team.";
/** Not the one that Claude Code uses by itself. */
const MODEL = "claude-sonnet-4-5";
const EMAIL = "ada@example.com";

let vendor: LLMock;
let gateway: WiredGateway;
let ada: Browser;
const home = mkdtempSync(join(tmpdir(), "claude-sign-in-"));
const credentials = join(home, ".claude/.credentials.json");

beforeAll(async () => {
  vendor = await LLMock.create({ port: 0 });
  vendor.on({}, { content: ANSWER, usage: { input_tokens: 210, output_tokens: 12 } });
  gateway = await wiredGateway({ chat: `${vendor.url}/v1`, messages: vendor.url });
  await gateway.admin("PUT", "/teams/search", {
    claude_settings: { model: MODEL },
    key_template: { limits: { budget_usd: "1000" } },
  });
  await gateway.admin("POST", "/people", { email: EMAIL, team: "search" });
  ada = await signIn(gateway, EMAIL);
  mkdirSync(join(home, ".claude"));
  const settings = { forceLoginMethod: "gateway", forceLoginGatewayUrl: gateway.url };
  writeFileSync(join(home, ".claude/settings.json"), JSON.stringify(settings));
});

afterAll(async () => {
  await vendor.stop();
  await gateway.close();
  rmSync(home, { recursive: true, force: true });
});

type State = { state: string; shown?: unknown; userCode?: string; verificationUri?: string };

/** Signs in as a script does: accepts what Claude Code shows, and approves the code as the person. */
async function login(): Promise<string[]> {
  const child = Bun.spawn([...program, "auth", "login", "--gateway-json"], {
    cwd: home,
    stdio: ["pipe", "pipe", "pipe"],
    timeout: 90_000,
    env: { PATH: process.env["PATH"] ?? "", HOME: home, TMPDIR: home, SHELL: "/bin/sh", ...ENV },
  });
  const states: string[] = [];
  const text = new TextDecoder();
  let rest = "";
  for await (const piece of child.stdout) {
    rest += text.decode(piece, { stream: true });
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const it: State = JSON.parse(line);
      states.push(it.state);
      if (it.state === "polling") {
        const approved = await ada.send("POST", `/v1/me/devices/${it.userCode}`, { approve: true });
        expect(approved.status).toBe(204);
      }
      if (["url_input", "trust_prompt", "confirm_account"].includes(it.state)) {
        child.stdin.write(`${JSON.stringify({ state: it.state, shown: it.shown, accept: true })}\n`);
        await child.stdin.flush();
      }
    }
  }
  expect(await child.exited).toBe(0);
  return states;
}

const stored = async () => (await Bun.file(credentials).json()).enterpriseGateway;
const modelsBy = (secret: string) =>
  fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } });

describe.skipIf(claude === null)("Claude Code", () => {
  test("signs in to the gateway once its person approves the code", async () => {
    const states = await login();
    expect([...new Set(states)]).toEqual([
      "url_input",
      "connecting",
      "trust_prompt",
      "polling",
      "confirm_account",
      "saving",
      "done",
    ]);
    expect(await stored()).toMatchObject({ url: gateway.url, email: EMAIL });
    const status = await runAgent([...program, "auth", "status"], { home, env: ENV });
    expect(JSON.parse(status.stdout)).toMatchObject({ loggedIn: true, apiProvider: "gateway" });
  });

  test("is answered and warned of its budget, and its calls are recorded with its person, session, tokens and cost", async () => {
    const { id } = (await (await ada.send("GET", "/v1/me/keys")).json()).data[0];
    // A person's own keys share their template's budget.
    await gateway.sql`insert into key_spend (key_id, day, usd)
      values (md5(${`person ${EMAIL}`})::uuid, (now() at time zone 'utc')::date, 800)`;
    const ran = await runAgent(
      [...program, "-p", "Say hello.", "--output-format", "stream-json", "--verbose"],
      {
        home,
        env: ENV,
      },
    );
    const events = ran.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const told = events.at(-1);
    expect(told).toMatchObject({ type: "result", is_error: false, result: ANSWER });
    const warned = events.find(({ type }) => type === "rate_limit_event");
    expect(warned?.rate_limit_info).toMatchObject({
      status: "allowed_warning",
      rateLimitType: "overage",
      utilization: 0.8,
      surpassedThreshold: 0.75,
    });
    const records = await gateway.records(told.session_id);
    for (const record of records) {
      expect(record).toMatchObject({
        state: "ok",
        status: 200,
        client: "claude-code",
        owner: EMAIL,
        model: MODEL,
        key_id: id,
        input_tokens: 210,
        output_tokens: 12,
        unpriced: false,
      });
      expect(Number(record.cost_usd)).toBeGreaterThan(0);
    }
  });

  test("with a used-up budget ends at once with the budget's message, and no provider is called", async () => {
    await gateway.admin("PATCH", "/teams/search", { budget_usd: "0" });
    const calls = vendor.getRequests().length;
    const ran = await runAgent([...program, "-p", "Say hello.", "--output-format", "json"], {
      home,
      env: ENV,
    });
    const told = JSON.parse(ran.stdout);
    expect(told.is_error).toBe(true);
    expect(told.result).toMatch(/^The budget of the team "search" \(0 USD a month\) is used up\./);
    expect(vendor.getRequests()).toHaveLength(calls);
    const [first, ...more] = await gateway.records(told.session_id);
    expect([first?.status, first?.error_type, more]).toEqual([429, "spend_limit_reached", []]);
    await gateway.admin("PATCH", "/teams/search", { budget_usd: null });
  });

  test("signs out: both its tokens end", async () => {
    const { jwt: bearer, idpRefreshToken: refresh } = await stored();
    expect((await modelsBy(bearer)).status).toBe(200);
    const left = await runAgent([...program, "auth", "logout"], { home, env: ENV });
    expect(left.status).toBe(0);
    await until(async () => (await modelsBy(bearer)).status === 401);
    const renewed = await fetch(`${gateway.url}/oauth/token`, {
      method: "POST",
      body: new URLSearchParams({ grant_type: "refresh_token", refresh_token: refresh }),
    });
    expect([renewed.status, (await renewed.json()).error]).toEqual([401, "invalid_grant"]);
  });
});
