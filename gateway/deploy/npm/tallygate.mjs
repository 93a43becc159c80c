#!/usr/bin/env node
// The command `tallygate` of the npm package: runs it with the Bun that the package brings. It needs Node and nothing else.
import { spawn, spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const { version, dependencies } = createRequire(import.meta.url)("../package.json");

/** Bun where its install script has put it, or where its platform package has it if no script ran. */
function findBun() {
  const own = createRequire(import.meta.url).resolve("bun/package.json");
  const system = process.platform === "win32" ? "windows" : process.platform;
  const name = `${system}-${process.arch === "arm64" ? "aarch64" : process.arch}`;
  const places = [
    ["bun", "bin/bun.exe"],
    ...[name, `${name}-musl`].map((it) => [`@oven/bun-${it}`, "bin/bun"]),
  ];
  for (const [from, path] of places) {
    try {
      const program = join(dirname(createRequire(own).resolve(`${from}/package.json`)), path);
      const { stdout } = spawnSync(program, ["--version"], { encoding: "utf8" });
      if (stdout?.trim() === dependencies.bun) return program;
    } catch {
      // Not installed: it is for another system.
    }
  }
  process.stderr.write(
    `Bun ${dependencies.bun} is not there for ${name}. Install tallygate again, with optional dependencies.\n`,
  );
  process.exit(1);
}

const words = process.argv.slice(2);
if (words[0] === "--version") {
  process.stdout.write(`${version}\n`);
  process.exit(0);
}
const isStart = words[0] === "start";
// A start reads `.env` in this directory, as `bun run start` does.
const command = isStart
  ? [join(root, "gateway/cli/start.ts"), ...words.slice(1)]
  : ["--no-env-file", join(root, "gateway/cli/tallygate.ts"), ...words];
const child = spawn(findBun(), command, {
  stdio: "inherit",
  // A start gets each signal from here, once; everything else stays with its terminal.
  detached: isStart && process.platform !== "win32",
});

const hadTerminal = process.stdin.isTTY === true;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    // The terminal has sent the signal to both.
    if (!isStart && signal === "SIGINT") return;
    // Without its terminal a start stops; otherwise SIGHUP asks it for new processes.
    child.kill(isStart && signal === "SIGHUP" && hadTerminal ? "SIGTERM" : signal);
  });
}
child.on("error", (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code ?? 1);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
