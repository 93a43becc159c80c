import { atEnd } from "./at-end.ts";

/** A command in a pseudo-terminal of 80 columns; `text` is all that it has written there. */
export function inTerminal(
  command: readonly string[],
  env: Record<string, string> = {},
): { text(): string; exited: Promise<number> } {
  const decoder = new TextDecoder();
  let text = "";
  const child = Bun.spawn([...command], {
    env: { PATH: process.env["PATH"] ?? "", TERM: "xterm-256color", ...env },
    terminal: {
      cols: 80,
      rows: 24,
      data: (_terminal, bytes) => {
        text += decoder.decode(bytes, { stream: true });
      },
    },
  });
  atEnd(() => child.kill("SIGKILL"));
  return { text: () => text, exited: child.exited };
}
