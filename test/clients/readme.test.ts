import { beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HAS_CLICKHOUSE, startClickHouse } from "#test/support/clickhouse.ts";
import { scratch } from "#test/support/embedded.ts";
import { ADMIN_KEY, MASTER_KEY } from "#test/support/gateway-process.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";
import { readPages } from "#test/support/pages.ts";
import { testDatabase } from "#test/support/postgres.ts";
import { ALL } from "#test/support/tiers.ts";
import { until } from "#test/support/until.ts";

// Does what the README and its pages tell a newcomer to do, block by block, in one shell: first the blocks marked `sh`, then, with the
// gateway stopped, those marked `sh stopped`. Blocks marked `console` are only shown.

const ROOT = join(import.meta.dir, "../..");
const [readme = "", ...others] = (await readPages()).values();
const pages = [readme, ...others].join("\n");

/** Addresses of vendors that are passed on as they are, and so in no document of ours. */
const OF_VENDORS = ["/v1/skills", "/v1/vector_stores"];

/** What Amazon bills for a day: the columns of its Cost and Usage Report that an import needs. */
const BILL = `line_item_usage_start_date,line_item_unblended_cost,line_item_currency_code,line_item_line_item_type,line_item_product_code,line_item_usage_type,line_item_usage_amount
2026-11-02T00:00:00Z,1.25,EUR,Usage,AmazonBedrock,USE1-Claude4.5Sonnet-input-tokens,250
`;

type Block = { language: string; text: string };
const blocks: Block[] = [...pages.matchAll(/^ *```(sh(?: stopped)?|js|python|yaml)\n([\s\S]*?)^ *```/gm)].map(
  ([, language = "", text = ""]) => ({ language, text }),
);
/**
 * Programs of their own; the others are parts of one. Without `--all`, those of the README alone: clients/sdk-gemini,
 * clients/sdk-clouds and clients/translated make the calls of the others by the same SDKs.
 */
const samples = blocks.filter(
  ({ language, text }) =>
    language === "js" && text.startsWith("import") && (process.env[ALL] || readme.includes(text)),
);

const space = scratch();
const dataDir = join(space.path, ".tallygate");
let gateway: LocalGateway;

beforeAll(async () => {
  // A checkout with a data directory of its own.
  for (const name of readdirSync(ROOT)) {
    if (!name.startsWith(".")) symlinkSync(join(ROOT, name), join(space.path, name));
  }
  mkdirSync(dataDir);
  gateway = await localGateway({ dataDir });
  writeFileSync(join(dataDir, "admin-key"), `${ADMIN_KEY}\n`);
  writeFileSync(join(space.path, "november.csv"), BILL);
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

/** The two commands and the demo have tests of their own; everything else of `npx` is done by this Bun. */
const SHELL = `set -e
npx() { shift 2; case "$*" in "run start" | "run test" | "run demo") ;; *) "$BUN" "$@" ;; esac; }
"$BUN" run tallygate --version
tallygate() { "$BUN" gateway/cli/tallygate.ts "$@"; }
curl() { command curl --silent --show-error --fail-with-body "$@"; echo; }`;

/** Stands in for the Python SDK where it is not installed: it makes the call all the same. */
const PYTHON_SDK = `import json, urllib.request
from types import SimpleNamespace as Object

class OpenAI:
    def __init__(self, base_url, api_key):
        def create(**body):
            headers = {"authorization": "Bearer " + api_key, "content-type": "application/json"}
            url = base_url + "/chat/completions"
            request = urllib.request.Request(url, json.dumps(body).encode(), headers)
            return json.load(urllib.request.urlopen(request), object_hook=lambda it: Object(**it))
        self.chat = Object(completions=Object(create=create))
`;

/** A block as lines of the one shell. */
function asShell({ language, text }: Block): string {
  if (language.startsWith("sh")) return text;
  const [file, command] =
    language === "js" ? ["hello.mjs", "npx -y bun@1.4.5 hello.mjs"] : ["hello.py", "python3 hello.py"];
  return `cat > ${file} <<'END_OF_SAMPLE'\n${text}END_OF_SAMPLE\n${command}`;
}

/** Whether the sample in Python can run here, and with which SDK. */
async function pythonPath(): Promise<string | null> {
  if (Bun.which("python3") === null) return null;
  const installed = await run(["python3", "-c", "import openai"], space.path);
  const folder = join(space.path, "python");
  mkdirSync(folder);
  if (installed.status !== 0) writeFileSync(join(folder, "openai.py"), PYTHON_SDK);
  return folder;
}

describe("of the README and its pages", () => {
  test("every block works when copied in order", async () => {
    const python = await pythonPath();
    const languages = ["sh", ...(python === null ? [] : ["python"])];
    const runnable = blocks.filter((block) => languages.includes(block.language) || samples.includes(block));
    const script = [SHELL, ...runnable.map(asShell)].join("\n");
    const env = {
      BUN: process.execPath,
      TALLYGATE_URL: gateway.url,
      // The database in the data directory of a start.
      DATABASE_URL: gateway.databaseUrl,
      AI_SDK_LOG_WARNINGS: "false",
      ...(python === null ? {} : { PYTHONPATH: python }),
    };
    const { stdout, stderr, status } = await run(
      ["/bin/sh", "-c", script.replaceAll("http://127.0.0.1:8787", gateway.url)],
      space.path,
      env,
    );
    expect({ stderr, status }).toEqual({ stderr, status: 0 });
    expect(stdout).toContain("cost_per_merged_pr");
    // Each sample prints the echo of its text; the one of the AI SDK makes two calls.
    const echoes = stdout.match(/^Hello$/gm) ?? [];
    const calls = samples.length + (process.env[ALL] ? 1 : 0) + (python === null ? 0 : 1);
    expect(echoes).toHaveLength(calls);
    const named = () => gateway.admin<{ data: unknown[] }>("GET", "/requests?session=task-42");
    await until(async () => (await named()).data.length > 3);
    // Dozens of programs, one after the other.
  }, 1_200_000);

  test("the settings in a file are understood, and applied", async () => {
    const declared = blocks.find(({ text }) => text.startsWith("# tallygate.yaml"));
    const file = join(space.path, "tallygate.yaml");
    writeFileSync(file, declared?.text ?? "");
    const apply = [process.execPath, "gateway/cli/tallygate.ts", "apply", file, "--url", gateway.url];
    // Whatever variables it names are set.
    const names = [...(declared?.text ?? "").matchAll(/\$\{(\w+)\}/g)].map(([, name = ""]) => name);
    const env = { ADMIN_KEY, ...Object.fromEntries(names.map((name) => [name, "secret-of-the-page"])) };
    for (const command of [[...apply, "--dry-run"], apply]) {
      const { stderr, status } = await run(command, ROOT, env);
      expect({ stderr, status }).toEqual({ stderr, status: 0 });
    }
    const saved = await gateway.admin("GET", "/reports/by-model");
    expect(saved).toMatchObject({ title: "Models", built_in: false });
  });

  test("every address that they name is one that the gateway answers", async () => {
    const { paths } = (await (await fetch(`${gateway.url}/openapi/json`)).json()) as { paths: object };
    const known = [...Object.keys(paths), "/openapi", "/v1/reports/schema.json", ...OF_VENDORS];
    const named = [...pages.matchAll(/(?<![\w.])\/(?:admin\/)?v1\/[a-z0-9/{}._-]*[a-z0-9}]/g)].map(
      ([path]) => path,
    );
    const unknown = named.filter(
      (path) => !known.some((it) => new RegExp(`^${it.replaceAll(/\{[^}]+\}/g, "[^/]+")}$`).test(path)),
    );
    expect([...new Set(unknown)]).toEqual([]);
  });

  // Without `--all`, cli/backup and stores/clickhouse-records try the same commands.
  const stopped = process.env[ALL] ? test.skipIf(!HAS_CLICKHOUSE) : () => undefined;
  stopped("every task on a stopped gateway works on what the blocks before it left", async () => {
    await gateway.stop();
    const [postgres, clickHouse] = await Promise.all([testDatabase(), startClickHouse()]);
    const script = [SHELL, ...blocks.filter((it) => it.language === "sh stopped").map(asShell)]
      .join("\n")
      .replaceAll("postgres://tallygate:password@db.example/tallygate", postgres.url)
      .replaceAll("http://tallygate:password@clickhouse:8123/tallygate", await clickHouse.database());
    const { stdout, stderr, status } = await run(["/bin/sh", "-c", script], space.path, {
      BUN: process.execPath,
      MASTER_KEY,
    });
    expect({ stderr, status }).toEqual({ stderr, status: 0 });
    expect(stdout).toMatch(/Moved [\d,]+ rows; both databases have the same/);
    expect(stdout).toMatch(/done: \d+ rows; ClickHouse and Postgres agree/);
  });
});
