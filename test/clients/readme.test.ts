import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { scratch } from "#test/support/embedded.ts";
import { ADMIN_KEY, type GatewayProcess, startGateway } from "#test/support/gateway-process.ts";
import { readAllPages } from "#test/support/pages.ts";

// What the README and its pages tell readers to do is done here, as it stands there. Blocks marked `console` are shown only.

const ROOT = join(import.meta.dir, "../..");
const pages = await readAllPages();
const blocks = (language: string): string[] =>
  [...pages.matchAll(new RegExp(`^ *\`\`\`${language}\n([\\s\\S]*?)^ *\`\`\``, "gm"))].map(
    ([, text = ""]) => text,
  );

const space = scratch();
const dataDir = join(space.path, ".tallygate");
let gateway: GatewayProcess;

beforeAll(async () => {
  mkdirSync(dataDir);
  gateway = await startGateway({ dataDir });
  writeFileSync(join(dataDir, "admin-key"), `${ADMIN_KEY}\n`);
}, 60_000);

afterAll(async () => {
  await gateway.stop();
  space.remove();
});

async function run(command: string[], cwd: string, env: Record<string, string> = {}) {
  const child = Bun.spawn(command, {
    cwd,
    env: { PATH: process.env["PATH"] ?? "", HOME: space.path, NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { stdout, stderr, status: await child.exited };
}

describe("of the README and its pages", () => {
  test("every shell command works, in its order", async () => {
    const commands = blocks("sh").filter((block) => !block.includes("npx"));
    const script = [
      "set -e",
      'curl() { command curl --silent --show-error --fail-with-body "$@"; echo; }',
      ...commands,
    ].join("\n");
    const { stdout, stderr, status } = await run(
      ["/bin/sh", "-c", script.replaceAll("http://127.0.0.1:8787", gateway.url)],
      space.path,
    );
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    expect(stdout).toContain("cost_per_merged_pr");
  });

  test("the settings in a file are understood, and applied", async () => {
    const [declared = ""] = blocks("yaml").filter((block) => block.startsWith("# tallygate.yaml"));
    const file = join(space.path, "tallygate.yaml");
    writeFileSync(file, declared);
    const apply = [process.execPath, "gateway/cli/tallygate.ts", "apply", file, "--url", gateway.url];
    const env = { ADMIN_KEY, OPENAI_API_KEY: "sk-of-the-page", ISSUES_TOKEN: "token-of-the-page" };
    for (const command of [[...apply, "--dry-run"], apply]) {
      const { stderr, status } = await run(command, ROOT, env);
      expect({ stderr, status }).toEqual({ stderr, status: 0 });
    }
    const saved = await gateway.admin("GET", "/reports/by-model");
    expect(saved).toMatchObject({ title: "Models", built_in: false });
  });

  test("every example in JavaScript works", async () => {
    const key = (await Bun.file(join(dataDir, "first-key")).text()).trim();
    const examples = blocks("js").filter((block) => block.startsWith("import"));
    expect(examples.length).toBeGreaterThan(2);
    for (const example of examples) {
      const env = { GATEWAY: gateway.url, KEY: key, AI_SDK_LOG_WARNINGS: "false" };
      const { stdout, stderr } = await run([process.execPath, "-e", example], ROOT, env);
      expect({ example, stdout: stdout.replaceAll(/^\(?.*[Ww]arning.*\n/gm, "") }).toEqual({
        example,
        stdout: expect.stringMatching(/^(Hello\n)+$/),
      });
      expect(stderr).not.toContain("error");
    }
    const { data } = await gateway.admin<{ data: unknown[] }>("GET", "/requests?session=task-42");
    expect(data.length).toBeGreaterThan(4);
  });

  test("every address that they name is one that the gateway answers", async () => {
    const { paths } = (await (await fetch(`${gateway.url}/openapi/json`)).json()) as { paths: object };
    const known = [...Object.keys(paths), "/openapi", "/v1/reports/schema.json"];
    const named = [...pages.matchAll(/(?<![\w.])\/(?:admin\/)?v1\/[a-z0-9/{}._-]*[a-z0-9}]/g)].map(
      ([path]) => path,
    );
    const unknown = named.filter(
      (path) => !known.some((it) => new RegExp(`^${it.replaceAll(/\{[^}]+\}/g, "[^/]+")}$`).test(path)),
    );
    expect([...new Set(unknown)]).toEqual([]);
  });
});
