import { join } from "node:path";
import { freePort } from "./ports.ts";

const MAIN = join(import.meta.dir, "../../github-app/main.ts");

/** The GitHub App as a process of its own with exactly these settings, once it is ready. */
export async function startGithubApp(settings: Record<string, string>) {
  const port = freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = Bun.spawn([process.execPath, MAIN], {
    env: { PATH: process.env["PATH"] ?? "", GITHUB_APP_PORT: String(port), LOG_LEVEL: "warn", ...settings },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let log = "";
  const collect = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const bytes of stream) log += decoder.decode(bytes, { stream: true });
  };
  void collect(child.stdout);
  void collect(child.stderr);
  const until = performance.now() + 20_000;
  while (
    !(await fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (child.exitCode !== null || performance.now() > until)
      throw new Error(`the App did not start:\n${log}`);
    await Bun.sleep(30);
  }
  return {
    url,
    log: () => log,
    stop: async () => {
      child.kill("SIGTERM");
      await child.exited;
    },
  };
}
