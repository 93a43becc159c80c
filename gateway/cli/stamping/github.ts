import { inheritedEnv, readPresent } from "#shared/env.ts";
import { parsedJson } from "#shared/json.ts";

/** An answer of GitHub's REST API; `body` is its JSON, or null. */
type GithubAnswer = { status: number; body: unknown };

/** Access to GitHub's REST API: `path` is below its root, as `repos/{owner}/{repository}/pulls`. */
export type GithubApi = {
  /** The web host of the repositories it serves, with its port, if any. */
  host: string;
  way: GithubVia;
  ask(method: "GET" | "PATCH" | "POST" | "PUT", path: string, body?: object): Promise<GithubAnswer>;
};

const WAYS = ["gh", "rest"] as const;
export type GithubVia = (typeof WAYS)[number];

export const isGithubVia = (text: string): text is GithubVia => WAYS.some((way) => way === text);

const ASK_MS_MAX = 20_000;
const SETTINGS = ["GITHUB_TOKEN", "GH_TOKEN", "GHE_HOST", "GHE_PROTOCOL"];

/** The host of GitHub's web pages: `GHE_HOST`, or GitHub's own. */
export const githubHost = (): string => readPresent(SETTINGS).get("GHE_HOST") ?? "github.com";

/**
 * Opens GitHub with this machine's credentials: REST with `GITHUB_TOKEN` (or `GH_TOKEN`) if set, else the GitHub CLI
 * with its own login. With `GHE_HOST` it talks to that server alone, so a token never goes to a host named by a
 * checkout.
 * @throws Error saying what is missing.
 */
export function openGithub(directory: string, wanted: GithubVia | null): GithubApi {
  const settings = readPresent(SETTINGS);
  const host = githubHost();
  const token = settings.get("GITHUB_TOKEN") ?? settings.get("GH_TOKEN");
  const gh = Bun.which("gh", { PATH: inheritedEnv({})["PATH"] ?? "" });
  if (wanted === "gh" || (wanted === null && token === undefined && gh !== null)) {
    if (gh !== null) return ghWay({ host, gh, directory });
    throw new Error("The GitHub CLI, gh, is not installed: https://cli.github.com");
  }
  if (token === undefined) {
    throw new Error(
      "No GitHub credential found: install the GitHub CLI and run `gh auth login`, or set GITHUB_TOKEN to a token that may write pull requests.",
    );
  }
  return restWay({ host, protocol: settings.get("GHE_PROTOCOL") ?? "https", token });
}

function restWay({ host, protocol, token }: { host: string; protocol: string; token: string }): GithubApi {
  const root = host === "github.com" ? "https://api.github.com" : `${protocol}://${host}/api/v3`;
  return {
    host,
    way: "rest",
    ask: async (method, path, body) => {
      const answer = await fetch(`${root}/${path}`, {
        method,
        // The token must not follow a redirect to another host.
        redirect: "error",
        signal: AbortSignal.timeout(ASK_MS_MAX),
        headers: {
          authorization: `Bearer ${token}`,
          accept: "application/vnd.github+json",
          "user-agent": "tallygate",
          "x-github-api-version": "2022-11-28",
        },
        ...(body && { body: JSON.stringify(body) }),
      }).catch(() => null);
      if (answer === null) throw new Error(`${root} does not answer.`);
      return { status: answer.status, body: parsedJson(await answer.text()) };
    },
  };
}

/** `gh api --include` prints the status on its first line, even for an answer that it then reports as a failure. */
function ghWay({ host, gh, directory }: { host: string; gh: string; directory: string }): GithubApi {
  return {
    host,
    way: "gh",
    ask: async (method, path, body) => {
      const child = Bun.spawn(
        [
          gh,
          "api",
          "--include",
          "--hostname",
          host,
          "--method",
          method,
          path,
          ...(body ? ["--input", "-"] : []),
        ],
        {
          cwd: directory,
          env: inheritedEnv({ GH_PROMPT_DISABLED: "1", NO_COLOR: "1" }),
          stdin: body ? new Blob([JSON.stringify(body)]) : "ignore",
          stdout: "pipe",
          stderr: "pipe",
          timeout: ASK_MS_MAX,
        },
      );
      const [text, said] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
      ]);
      await child.exited;
      const [, status, json = ""] = /^HTTP\/\S+ (\d{3})[^\n]*\n[\s\S]*?\r?\n\r?\n([\s\S]*)$/.exec(text) ?? [];
      if (status) return { status: Number(status), body: parsedJson(json) };
      throw new Error(`gh cannot ask ${host}: ${said.trim().split("\n")[0] ?? "it said nothing"}`);
    },
  };
}
