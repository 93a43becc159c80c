import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { reachDirectly } from "#shared/loopback.ts";

const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("here") });
afterAll(() => server.stop(true));

/** What a process says whose environment names a proxy that there is not. */
async function saidBy(script: string, env: Record<string, string>): Promise<string> {
  const path = join(import.meta.dir, "../../shared/loopback.ts");
  const program = `import { reachDirectly } from ${JSON.stringify(path)};
    ${script}
    console.log(await fetch("http://127.0.0.1:${server.port}").then((it) => it.text(), () => "nowhere"));`;
  const child = Bun.spawn([process.execPath, "--no-env-file", "-e", program], {
    env: { PATH: process.env["PATH"] ?? "", HTTP_PROXY: "http://127.0.0.1:9", ...env },
    stdout: "pipe",
  });
  return (await new Response(child.stdout).text()).trim();
}

test("a proxy of the environment does not stand between the parts of one machine", async () => {
  expect(await saidBy("", {})).toBe("nowhere");
  expect(await saidBy("reachDirectly();", {})).toBe("here");
  expect(await saidBy("reachDirectly();", { no_proxy: "corp.example", NO_PROXY: "" })).toBe("here");
});

test("what the environment leaves out of the proxy stays out, whichever way it is written", () => {
  const env: Record<string, string | undefined> = { HTTP_PROXY: "http://p", NO_PROXY: "corp.example" };
  reachDirectly(["10.1.2.3"], env);
  const all = "corp.example,localhost,127.0.0.1,::1,10.1.2.3";
  expect(env).toMatchObject({ NO_PROXY: all, no_proxy: all });
  reachDirectly(["10.1.2.3"], env);
  expect(env).toMatchObject({ NO_PROXY: all, no_proxy: all });
});

test("without a proxy the environment stays as it is", () => {
  const env: Record<string, string | undefined> = { NO_PROXY: "corp.example" };
  reachDirectly([], env);
  expect(env).toEqual({ NO_PROXY: "corp.example" });
});
