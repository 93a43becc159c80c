import { join } from "node:path";
import { freePort } from "./ports.ts";

/** The App in a process of its own, which can be killed and started again on the same port and database. */
export async function killableGithubApp(settings: Record<string, string>) {
  const port = freePort();
  const url = `http://127.0.0.1:${port}`;
  let child = spawn(port, settings);
  await ready(url);
  return {
    url,
    webhooks: `${url}/api/github/webhooks`,
    pid: () => child.pid,
    kill: async () => {
      child.kill("SIGKILL");
      await child.exited;
    },
    start: async () => {
      child = spawn(port, settings);
      await ready(url);
    },
  };
}

const spawn = (port: number, settings: Record<string, string>) =>
  Bun.spawn([process.execPath, "--no-env-file", join(import.meta.dir, "github-app-child.ts")], {
    env: { PATH: "/usr/bin:/bin", GITHUB_APP_PORT: String(port), LOG_LEVEL: "warn", ...settings },
    stdio: ["ignore", "inherit", "inherit"],
  });

async function ready(url: string): Promise<void> {
  for (let tries = 0; tries < 1000; tries++) {
    const answer = await fetch(`${url}/readyz`).catch(() => null);
    if (answer?.ok) return;
    await Bun.sleep(10);
  }
  throw new Error("the GitHub App did not get ready");
}
