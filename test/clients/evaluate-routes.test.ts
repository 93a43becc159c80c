import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { scratch } from "#test/support/embedded.ts";
import { ADMIN_KEY } from "#test/support/gateway-process.ts";
import { localGateway } from "#test/support/local-gateway.ts";

test("`tallygate routes evaluate` prints accuracy and confusion of a gateway's routes, and none of the texts", async () => {
  const place = scratch();
  const gateway = await localGateway({ dataDir: join(place.path, "gateway") });
  for (const name of ["coding", "translation"]) {
    await gateway.admin("PUT", `/routes/${name}`, { surface: "chat", provider: "echo", model: "echo" });
  }
  const file = join(place.path, "texts.jsonl");
  const run = async (lines: object[]) => {
    writeFileSync(file, lines.map((line) => JSON.stringify(line)).join("\n"));
    const command = Bun.spawn(
      [process.execPath, "gateway/cli/tallygate.ts", "routes", "evaluate", file, "--url", gateway.url],
      { env: { PATH: process.env["PATH"] ?? "", ADMIN_KEY }, stdout: "pipe", stderr: "pipe" },
    );
    const [out, error] = await Promise.all([
      new Response(command.stdout).text(),
      new Response(command.stderr).text(),
    ]);
    return { out, error, code: await command.exited };
  };
  const { out, error, code } = await run([
    { text: "Write a Python function that reverses a list", route: "coding" },
    { text: "Translate this letter into French, please", route: "translation" },
    { text: "Write a poem about the sea in autumn" },
  ]);
  expect([code, error]).toEqual([0, ""]);
  expect(out).toContain("right, by the best route only      100.0 %");
  expect(out).toMatch(/^coding +0 +1 +0$/m);
  expect(out).not.toContain("Python");
  const bad = await run([{ words: "canary" }]);
  expect([bad.code, bad.out]).toEqual([1, ""]);
  expect(bad.error).toContain("line 1");
  expect(bad.error).not.toContain("canary");
  await gateway.stop();
  place.remove();
});
