/**
 * The GitHub CLI as far as a developer's agent and the product use it: `gh pr create --title … --body … [--head …]` and
 * `gh api --include`. Its login is the file `gh.json` beside the program's name in the environment.
 */
const { api, token, repository } = await Bun.file(process.env["FAKE_GH"] ?? "").json();

const words = process.argv.slice(2);
const option = (name: string): string | undefined => {
  const at = words.indexOf(name);
  return at === -1 ? undefined : words[at + 1];
};

async function ask(method: string, path: string, body?: string): Promise<Response> {
  return await fetch(`${api}/${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, accept: "application/vnd.github+json" },
    ...(body === undefined ? {} : { body }),
  });
}

if (words[0] === "api") {
  const path = words.find((word) => word.startsWith("repos/") || word === "user") ?? "";
  const body = option("--input") === "-" ? await Bun.stdin.text() : undefined;
  const answer = await ask(option("--method") ?? "GET", path, body);
  const text = await answer.text();
  process.stdout.write(
    `HTTP/2.0 ${answer.status} ${answer.statusText}\r\nContent-Type: application/json\r\n\r\n${text}`,
  );
  process.exit(answer.ok ? 0 : 1);
}

if (words[0] === "pr" && words[1] === "create") {
  const checkedOut = () => Bun.spawnSync(["git", "symbolic-ref", "--short", "HEAD"]).stdout.toString().trim();
  const head = option("--head") ?? checkedOut();
  const body = { title: option("--title"), body: option("--body"), head, base: "main" };
  const answer = await ask("POST", `repos/${repository}/pulls`, JSON.stringify(body));
  const made = (await answer.json()) as { number?: number; message?: string };
  process.stdout.write(`${answer.ok ? `${api}/${repository}/pull/${made.number}` : made.message}\n`);
  process.exit(answer.ok ? 0 : 1);
}

process.stderr.write(`unknown command "${words.join(" ")}" for "gh"\n`);
process.exit(1);
