import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { TALLYGATE } from "#test/support/checkout.ts";
import { scratch } from "#test/support/embedded.ts";
import { TRANSPILED } from "#test/support/transpiled.ts";

/** A home and a place to work in of nobody's: what is understood against expectation changes nothing of a person's. */
const place = scratch();
afterAll(place.remove);

/** A gateway is not there: what cannot be understood is said before it is asked. */
async function tallygate(...words: string[]) {
  const child = Bun.spawn([...TALLYGATE, ...words], {
    cwd: place.path,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...TRANSPILED,
      HOME: place.path,
      PATH: process.env["PATH"] ?? "",
      ADMIN_KEY: "an-admin-key-of-some-length",
      PORT: "9",
    },
  });
  const [out, error] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, out, error };
}

test.each([
  [["report", "--csv"]],
  [["report", "a", "b", "--csv"]],
  [["report", "a", "--csv", "--json"]],
  [["report", "--filter", "client"]],
  [["report", "--filter", "client="]],
  [["digest", "--json"]],
  [["install", "claude", "--required"]],
  [["backfill", "--repo", "shop"]],
  [["session", "--clear", "--id", "a"]],
  [["session", "--clear", "--new"]],
  [["install", "opencode", "--managed"]],
  [["install", "codex", "gemini", "--managed"]],
  [["install", "codex", "--managed", "--required"]],
  [["install", "--managed", "--remove"]],
  [["install", "--managed", "--dry-run"]],
  [["install", "--url", "http://127.0.0.1:9"]],
  [["doctor", "--local", "--pr", "7"]],
  [["report", "--range", "7d", "--from", "2026-01-01"]],
])("options that do not fit together are not understood, rather than passed over: %j", async (words) => {
  const { code, error } = await tallygate(...words);
  expect(error).toStartWith("error: ");
  expect(code).toBe(2);
});

test.each([
  [["report", "--range", "5d"], "--range"],
  [["report", "--from", "yesterday"], "--from"],
  [["report", "--to", "2026-02-30"], "--to"],
  [["report", "--from", "2026-02-02", "--to", "2026-01-01"], "--from"],
  [["report", "--filter", "colour=red"], "--filter"],
  [["report", "--filter", "day=monday"], "--filter"],
  [["report", "--url", "gateway.example"], "--url"],
  [["-C", "nowhere", "session"], "--directory"],
  [["doctor", "--app-url", "gateway.example"], "--app-url"],
  [["keys", "create", ""], "name"],
  [["keys", "create", "ada", "--budget-usd", "ten"], "--budget-usd"],
  [["keys", "create", "ada", "--budget-period", "week"], "--budget-period"],
  [["keys", "create", "ada", "--expires", "soon"], "--expires"],
  [["keys", "create", "ada", "--owner", "x".repeat(129)], "--owner"],
  [["keys", "create", "ada", "--mcp", "a_b"], "--mcp"],
  [["keys", "rotate", "ada", "--grace", "604801"], "--grace"],
  [["reprice", "--from", "2026-13-01", "--to", "2026-12-01"], "--from"],
  [["reprice", "--from", "2026-12-01", "--to", "soon"], "--to"],
  [["reprice", "--from", "2026-12-01"], "--to"],
  [["reprice"], "--from"],
] as const)("a value that cannot be is refused before a gateway is asked: %j", async (words, named) => {
  const { code, out, error } = await tallygate(...words);
  expect(error).toStartWith("error: ");
  expect(error).toContain(named);
  expect([code, out]).toEqual([2, ""]);
});

test.each([[[]], [["keys"]], [["pr"]], [["review"]], [["rollups"]], [["routes"]]])(
  "a group of commands alone is not understood, and shows what there is: %j",
  async (words: string[]) => {
    const { code, out, error } = await tallygate(...words);
    expect(error).toStartWith(["Usage: tallygate", ...words].join(" "));
    expect([code, out]).toEqual([2, ""]);
  },
);

test("help that was asked for has status 0, on standard output", async () => {
  for (const words of [["help"], ["help", "keys"], ["keys", "help"], ["keys", "--help"]]) {
    const { code, out, error } = await tallygate(...words);
    expect(out).toStartWith("Usage: tallygate");
    expect([code, error]).toEqual([0, ""]);
  }
});

test("an argument that the start does not know is not understood", async () => {
  const start = [process.execPath, "--no-env-file", join(import.meta.dir, "../../gateway/cli/start.ts")];
  const child = Bun.spawn([...start, "now"], { cwd: place.path, stdio: ["ignore", "pipe", "pipe"] });
  const [out, error] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  expect(error).toStartWith("Unknown argument: now\n\nUsage: bun run start");
  expect([await child.exited, out]).toEqual([2, ""]);
});

test.each([
  [["routes", "evaluate", "nowhere.jsonl"], "nowhere.jsonl cannot be read: it does not exist.\n"],
  [["apply", "nowhere.yaml"], "nowhere.yaml cannot be read: it does not exist.\n"],
  [["apply", "."], ". cannot be read: it is a directory.\n"],
])("a file that cannot be read is named, with the cause: %j", async (words, said) => {
  const { code, error } = await tallygate(...words);
  expect(error).toBe(said);
  expect(code).toBe(1);
});
