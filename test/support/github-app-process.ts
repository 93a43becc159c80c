import { join } from "node:path";
import { type ServerProcess, startServer } from "./server-process.ts";

const MAIN = join(import.meta.dir, "../../github-app/main.ts");

/** The GitHub App as a process of its own with exactly these settings, once it is ready. */
export const startGithubApp = (settings: Record<string, string>): Promise<ServerProcess> =>
  startServer(MAIN, "GITHUB_APP_PORT", settings);

/** The same at a pace for tests. */
export async function startFastGithubApp(settings: Record<string, string>) {
  const app = await startServer(join(import.meta.dir, "github-app-child.ts"), "GITHUB_APP_PORT", settings);
  return { ...app, webhooks: `${app.url}/api/github/webhooks` };
}
