import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { GENERATED_PAGES, withGenerated } from "#gateway/cli/docs.ts";
import { HELP } from "#gateway/cli/start/help.ts";
import { SETTING_NAMES } from "#gateway/config.ts";
import { CATALOGUE } from "#gateway/reports/catalogue.ts";
import { dimensionTable, measureTable } from "#gateway/reports/reference.ts";
import { REPORTS_DOCS } from "#gateway/surfaces/reports-docs.ts";
import { DEFAULT_SETTINGS } from "#shared/settings.ts";
import { readAllPages, readPages } from "#test/support/pages.ts";

const ROOT = join(import.meta.dir, "../..");
const pages = await readPages();
const all = await readAllPages();

describe("the README and its pages", () => {
  test.each(GENERATED_PAGES)(
    "%s: its tables are those of the code (`bun run docs` makes them anew)",
    (path) => {
      const page = pages.get(path) ?? "";
      expect(withGenerated(path, page)).toBe(page);
    },
  );

  test("the tables of measures and dimensions stand in the API's documentation, too", () => {
    const { description = "" } = REPORTS_DOCS.query;
    for (const table of [measureTable(), dimensionTable()]) {
      expect([description.includes(table), all.includes(table)]).toEqual([true, true]);
    }
  });

  test("every setting, every switch and every built-in report is named", () => {
    const ofTheApp = [...HELP.matchAll(/\b[A-Z]+(?:_[A-Z]+)+\b/g)].map(([name]) => name);
    const reports = CATALOGUE.map(({ id }) => id);
    const names = [...SETTING_NAMES, ...ofTheApp, ...Object.keys(DEFAULT_SETTINGS), ...reports];
    expect(names.filter((name) => !all.includes(`\`${name}\``))).toEqual([]);
  });

  test("every switch has its default, as the admin API shows it", () => {
    const page = pages.get("gateway/README.md") ?? "";
    const written = Object.entries(DEFAULT_SETTINGS).map(([name, value]) => {
      const [, cell = ""] = page.match(new RegExp(`^\\| \`${name}\` \\| \`(.*?)\` \\|`, "m")) ?? [];
      return [name, typeof value === "string" ? cell : JSON.parse(cell)];
    });
    expect(Object.fromEntries(written)).toEqual(DEFAULT_SETTINGS);
  });

  test("every command of the command line is named, and no other", async () => {
    const help = Bun.spawn([process.execPath, "gateway/cli/tallygate.ts", "--help"], {
      cwd: ROOT,
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [, list = ""] = /\nCommands:\n([\s\S]*?)\n\n/.exec(await new Response(help.stdout).text()) ?? [];
    const commands = [...list.matchAll(/^ {2}([a-z]+)/gm)].map(([, name = ""]) => name);
    expect(commands.length).toBeGreaterThan(10);
    const page = pages.get("gateway/cli/README.md") ?? "";
    expect(commands.filter((name) => name !== "help" && !page.includes(`\`${name}`))).toEqual([]);
    const samples = [...all.matchAll(/(?:`|^\$ |^)(?:bun run )?tallygate ([a-z-]+)/gm)].map(
      ([, name = ""]) => name,
    );
    expect(samples.length).toBeGreaterThan(40);
    // `start` is the server's, in the package and the one program.
    expect(samples.filter((name) => name !== "start" && !`\n${list}`.includes(`\n  ${name} `))).toEqual([]);
  });

  test("the README has at most 200 lines and no sentence of more than 30 words", () => {
    const readme = pages.get("README.md") ?? "";
    expect(readme.split("\n").length - 1).toBeLessThanOrEqual(200);
    const prose = readme
      .replaceAll(/^```[\s\S]*?^```$/gm, "")
      .split(/\n\n|\n(?=[|#-]|\d\. )/)
      .filter((paragraph) => !paragraph.startsWith("|"));
    const sentences = prose.flatMap((paragraph) =>
      paragraph.replaceAll(/\]\([^)]*\)/g, "]").split(/(?<=[.?!])\s/),
    );
    expect(sentences.length).toBeGreaterThan(40);
    expect(sentences.filter((sentence) => sentence.trim().split(/\s+/).length > 30)).toEqual([]);
  });

  test("every table of a page has its head, so no blank line parts it", () => {
    const parted = [...pages].flatMap(([path, text]) =>
      [...text.matchAll(/(?<=^(?!\|).*\n)(\|.*)\n(?!\| ?:?-)/gm)].map(([, row]) => `${path}: ${row}`),
    );
    expect(parted).toEqual([]);
  });

  test("the README leads to every page beside a room", async () => {
    const written = new Bun.Glob("{gateway,github-app}/**/README.md").scan(ROOT);
    expect((await Array.fromAsync(written)).filter((path) => !pages.has(path))).toEqual([]);
  });
});

describe("the retrying fetch of the pages", () => {
  const [, code = ""] = /<!-- retrying-fetch -->\n```js\n([\s\S]*?)```/.exec(all) ?? [];
  type Answer = Response | Error;

  /** Runs it against answers in turn; waits are noted instead of waited. */
  async function run(answers: Answer[], signal?: AbortSignal) {
    const waits: number[] = [];
    let tries = 0;
    const fetching = async () => {
      const answer = answers[tries++];
      if (answer instanceof Response) return answer;
      throw answer;
    };
    const wait = (resolve: () => void, ms: number) => {
      waits.push(ms);
      resolve();
    };
    const make = new Function("fetch", "setTimeout", `${code.replace("export ", "")}; return retryingFetch;`);
    const ended: Answer = await make(fetching, wait)("http://gateway", { signal }).catch((it: Error) => it);
    return { ended: ended instanceof Error ? ended.message : ended.status, tries, waits };
  }

  const status = (code: number, headers: Record<string, string> = {}) =>
    new Response("", { status: code, headers });

  test("three tries, 1 to 2 s and 4 to 8 s apart, after 502, 503, 504 and broken connections only", async () => {
    const { ended, tries, waits } = await run([status(502), new Error("reset"), status(504)]);
    expect({ ended, tries }).toEqual({ ended: 504, tries: 3 });
    expect(waits).toHaveLength(2);
    expect(waits[0]).toBeWithin(1_000, 2_001);
    expect(waits[1]).toBeWithin(4_000, 8_001);
    expect(await run([new Error("a"), new Error("b"), new Error("refused")])).toMatchObject({
      ended: "refused",
    });
    for (const final of [200, 400, 401, 403, 404, 429, 500]) {
      expect(await run([status(final)])).toEqual({ ended: final, tries: 1, waits: [] });
    }
  });

  test("`retry-after` counts up to 15 s, and `x-should-retry: false` ends it", async () => {
    const asked = [status(503, { "retry-after": "3" }), status(503, { "retry-after": "90" }), status(200)];
    expect(await run(asked)).toEqual({ ended: 200, tries: 3, waits: [3_000, 15_000] });
    expect((await run([status(503, { "x-should-retry": "false" })])).tries).toBe(1);
  });

  test("a caller who aborts is not made to wait", async () => {
    expect((await run([new Error("aborted")], AbortSignal.abort())).tries).toBe(1);
  });
});
