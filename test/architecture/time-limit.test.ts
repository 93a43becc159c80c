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
