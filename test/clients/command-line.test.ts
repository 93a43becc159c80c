import { expect, setDefaultTimeout, test } from "bun:test";
import { TALLYGATE } from "#test/support/checkout.ts";

setDefaultTimeout(60_000);

/** A gateway is not there: what cannot be understood is said before it is asked. */
async function tallygate(...words: string[]) {
  const child = Bun.spawn([...TALLYGATE, ...words], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env["PATH"] ?? "", ADMIN_KEY: "an-admin-key-of-some-length", PORT: "9" },
  });
  const error = await new Response(child.stderr).text();
  return { code: await child.exited, error };
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
])("options that do not fit together are not understood, rather than passed over: %j", async (words) => {
  const { code, error } = await tallygate(...words);
  expect(error).toStartWith("error: ");
  expect(code).toBe(2);
});

test("a file of texts that is not there is named", async () => {
  const { code, error } = await tallygate("routes", "evaluate", "nowhere.jsonl");
  expect(error).toBe("nowhere.jsonl cannot be read.\n");
  expect(code).toBe(1);
});
