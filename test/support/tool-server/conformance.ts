import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SUITE = join(import.meta.dir, "../../../node_modules/@modelcontextprotocol/conformance/dist/index.js");

type Check = { id: string; status: string; errorMessage?: string };

/** What became of every check: `scenario/check`, with how often it was made, and its status. */
export type Verdicts = Map<string, string>;

/** Runs the protocol's own suite of a revision against a server. */
export async function conformance(url: string, requirements: string): Promise<Verdicts> {
  const place = await mkdtemp(join(tmpdir(), "conformance-"));
  try {
    const command = [SUITE, "server", "--url", url, "--requirements", requirements, "-o", place];
    const run = Bun.spawn([process.execPath, ...command], {
      stdout: "ignore",
      stderr: "ignore",
      timeout: 150_000,
    });
    await run.exited;
    return await verdictsIn(place);
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

async function verdictsIn(place: string): Promise<Verdicts> {
  const verdicts: Verdicts = new Map();
  for (const directory of (await readdir(place)).toSorted()) {
    const [, scenario] = /^server-(.+)-\d{4}-\d\d-\d\dT/.exec(directory) ?? [];
    const checks = (await Bun.file(join(place, directory, "checks.json")).json()) as Check[];
    for (const { id, status, errorMessage } of checks) {
      const name = `${scenario}/${id}`;
      const before = verdicts.get(name);
      // A check that is made several times is as good as its worst.
      const told = status === "FAILURE" ? `FAILURE: ${errorMessage ?? ""}` : status;
      if (before === undefined || !before.startsWith("FAILURE")) verdicts.set(name, told);
    }
  }
  return verdicts;
}

const failed = (verdict: string | undefined) => verdict === undefined || verdict.startsWith("FAILURE");

/** Checks that come out otherwise at `other` than at `one`. */
export const differences = (one: Verdicts, other: Verdicts): string[] =>
  [...new Set([...one.keys(), ...other.keys()])]
    .filter((name) => failed(one.get(name)) !== failed(other.get(name)))
    .map((name) => `${name}: ${one.get(name) ?? "absent"} → ${other.get(name) ?? "absent"}`);

/** Puts a client key before every request, which the suite itself cannot send; nothing else is changed. */
export function keyDoor(
  gateway: string,
  path: string,
  secret: string,
): { url: string; stop(): Promise<void> } {
  const door = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const headers = new Headers(request.headers);
      headers.set("x-gateway-key", secret);
      const body = request.method === "POST" ? await request.bytes() : null;
      const answer = await fetch(gateway + path, {
        method: request.method,
        headers,
        body,
        signal: request.signal,
      });
      return new Response(answer.body, { status: answer.status, headers: answer.headers });
    },
  });
  return { url: `http://127.0.0.1:${door.port}/mcp`, stop: () => door.stop(true) };
}
