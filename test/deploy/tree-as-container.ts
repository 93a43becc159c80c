import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

type Tree = { tree: string; data: string; command: readonly string[]; probe: readonly string[] };

const quoted = (words: readonly string[]) => words.map((word) => `'${word}'`).join(" ");

/**
 * Writes a `docker` into the new directory `place` whose containers are the tree of the Dockerfile's build stage, run as a
 * process: it knows what `gateway/deploy/image` asks of it. The probe runs before the first `exec`; its exit code is in the file
 * `health`. Returns a reader of the commands that it was given.
 */
export function treeAsContainer(place: string, { tree, data, command, probe }: Tree): () => string[] {
  mkdirSync(place);
  const program = join(place, "docker");
  writeFileSync(
    program,
    `#!/bin/bash
echo "$*" >> ${place}/log
cd ${tree}
case "$1" in
  run) (${quoted(command)} & echo $! > ${place}/pid; wait $!; echo $? > ${place}/code) > ${place}/out 2>&1 < /dev/null & ;;
  logs) cat ${place}/out ;;
  exec) [ -f ${place}/health ] || { ${quoted(probe)}; echo $? > ${place}/health; }; cat ${data}/"$(basename "$4")" ;;
  stop) kill -TERM "$(cat ${place}/pid)"; while [ ! -f ${place}/code ]; do sleep 0.1; done ;;
  inspect) cat ${place}/code ;;
  rm) [ -f ${place}/code ] || kill -KILL "$(cat ${place}/pid)" ;;
esac
`,
  );
  chmodSync(program, 0o755);
  return () => readFileSync(join(place, "log"), "utf8").trim().split("\n");
}
