import { expect, test } from "bun:test";
import { join } from "node:path";
import { scratch } from "#test/support/embedded.ts";

const PRELOAD = join(import.meta.dir, "../support/preload.ts");

test("every file of a run has the suite's time limit, not only the first", async () => {
  const place = scratch();
  const slow = `import { test } from "bun:test";
test("takes longer than the default", () => Bun.sleep(300));`;
  for (const name of ["a", "b"]) await Bun.write(join(place.path, `${name}.test.ts`), slow);
  const run = Bun.spawn([process.execPath, "test", "--timeout=100", `--preload=${PRELOAD}`], {
    cwd: place.path,
    stdout: "ignore",
    stderr: "pipe",
  });
  const printed = await new Response(run.stderr).text();
  expect(await run.exited, printed).toBe(0);
  expect(printed).toContain(" 2 pass");
});

/** Those whose limit is what they are about. */
const OWN_LIMITS = ["test/faults/slow-bodies.test.ts"];

test("no test has less time than the others: a busy machine takes it", async () => {
  const root = join(import.meta.dir, "../..");
  const short: string[] = [];
  for await (const file of new Bun.Glob("test/**/*.test.{ts,tsx}").scan(root)) {
    const text = await Bun.file(join(root, file)).text();
    const limits = [...text.matchAll(/^\s*\}, (\d+_000)\);$/gm)].map(([, ms = ""]) =>
      Number(ms.replaceAll("_", "")),
    );
    if (limits.some((ms) => ms >= 10_000 && ms < 300_000) && !OWN_LIMITS.includes(file)) short.push(file);
  }
  expect(short).toEqual([]);
});
