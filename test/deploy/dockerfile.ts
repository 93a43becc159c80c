import { chmodSync, cpSync, lstatSync, mkdirSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DockerfileParser, type Instruction } from "dockerfile-ast";
import { unprivileged } from "./unprivileged.ts";

const ROOT = join(import.meta.dir, "../..");
const FILE = join(ROOT, "gateway/deploy/Dockerfile");

const dockerfile = DockerfileParser.parse(await Bun.file(FILE).text());

/** The instructions of one kind, of all stages, by their arguments. */
export const argumentsOf = (keyword: string): string[] =>
  dockerfile
    .getInstructions()
    .filter((it) => it.getKeyword() === keyword)
    .map((it) => it.getArgumentsContent() ?? "");

/** The words of an instruction in JSON form, such as CMD. The base image has `bun` in its PATH. */
export function wordsOf(text: string, bun = "bun"): string[] {
  const list: unknown = JSON.parse(text.slice(text.indexOf("[")));
  if (!Array.isArray(list)) throw new Error(`not in JSON form: ${text}`);
  return list.map((word) => (word === "bun" ? bun : String(word)));
}

/** The variables that ENV sets. */
export const environment = (): Record<string, string> =>
  Object.fromEntries(
    argumentsOf("ENV")
      .flatMap((text) => text.split(/\s+/))
      .map((pair) => pair.split("=", 2))
      .map(([name = "", value = ""]) => [name, value]),
  );

/**
 * Carries out the stage `build` in `tree`, which stands for its WORKDIR, as an ordinary user and without network beyond
 * the registry: COPY of the checkout's files, and RUN of Bun. Any other RUN fails.
 */
export async function build(tree: string, bun: string): Promise<void> {
  const stages = dockerfile.getFROMs();
  const end = stages[1]?.getRange().start.line ?? Number.POSITIVE_INFINITY;
  for (const it of dockerfile.getInstructions()) {
    if (it.getRange().start.line < end) await step(it, { tree, bun });
  }
}

async function step(instruction: Instruction, { tree, bun }: { tree: string; bun: string }): Promise<void> {
  const words = instruction.getArguments().map((word) => word.getValue());
  if (instruction.getKeyword() === "COPY") copy(words, tree);
  if (instruction.getKeyword() !== "RUN") return;
  if (words[0] !== "bun") throw new Error(`cannot be carried out here: RUN ${words.join(" ")}`);
  const command = unprivileged([bun, ...words.slice(1)]);
  const run = Bun.spawn(command, {
    cwd: tree,
    env: { PATH: "/usr/bin:/bin", HOME: dirname(tree) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text()]);
  if ((await run.exited) !== 0) throw new Error(`RUN ${words.join(" ")} failed:\n${said.join("")}`);
}

/** To a directory with `/` at its end, or of a directory's content to a name, as Docker does. */
function copy(words: string[], tree: string): void {
  const [to = "", ...from] = words.toReversed();
  for (const name of from) {
    const target = to.endsWith("/") ? join(tree, to, basename(name)) : join(tree, to);
    mkdirSync(join(target, ".."), { recursive: true });
    cpSync(join(ROOT, name), target, { recursive: true });
  }
}

/** Takes all write permissions away. */
export function makeReadOnly(path: string): void {
  const facts = lstatSync(path);
  if (facts.isSymbolicLink()) return;
  if (facts.isDirectory()) for (const name of readdirSync(path)) makeReadOnly(join(path, name));
  chmodSync(path, facts.mode & ~0o222);
}
