import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { atEnd } from "#test/support/at-end.ts";
import { scratch } from "#test/support/embedded.ts";
import { ADMIN_KEY } from "#test/support/gateway-process.ts";

const place = scratch();
const ROOT = join(import.meta.dir, "../..");

/** Sets the window's title, hides a line, moves the cursor up, turns the direction, and reports the terminal's state. */
const ACTS = "ok\u001b]0;gotcha\u0007\u001b[8m\u001b[A\u009b6n\u202egnp";
const acting = (text: string) => text.replaceAll(/[\n\t]/g, "").match(/[\p{Cc}\p{Cf}]/gu);

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch(request) {
    const { pathname, origin } = new URL(request.url);
    const codes = {
      device_code: ACTS,
      user_code: ACTS,
      verification_uri: `${origin}/${ACTS}`,
      verification_uri_complete: `${origin}/${ACTS}`,
      expires_in: 60,
      interval: 1,
    };
    if (pathname === "/oauth/device_authorization") return Response.json(codes);
    if (pathname === "/oauth/token") {
      return Response.json({ error: "access_denied", error_description: ACTS }, { status: 400 });
    }
    return Response.json({ error: { type: "x", message: ACTS } }, { status: 400 });
  },
});
atEnd(() => server.stop(true));

async function printed(...words: string[]) {
  const url = `http://127.0.0.1:${server.port}`;
  const child = Bun.spawn(
    [process.execPath, "--no-env-file", join(ROOT, "gateway/cli/tallygate.ts"), ...words],
    {
      env: { PATH: process.env["PATH"] ?? "", HOME: place.path, ADMIN_KEY, TALLYGATE_URL: url },
      stdout: "pipe",
      stderr: "pipe",
    },
  );
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return out + err;
}

describe("what a server says acts on no terminal", () => {
  const COMMANDS: [string, ...string[]][] = [
    ["login", "--no-browser"],
    ["keys", "list"],
    ["keys", "list", "--json"],
    ["report"],
    ["budgets"],
    ["alerts"],
    ["digest"],
    ["setup-link"],
  ];
  test.each(COMMANDS.map((words) => [words.join(" "), words] as const))("%s", async (_, words) => {
    const text = await printed(...words);
    expect(text).toContain("ok\uFFFD");
    expect(acting(text)).toBeNull();
  });

  test("every command prints by the functions that see to it", async () => {
    const found: string[] = [];
    for await (const file of new Bun.Glob("gateway/cli/{commands,apply,doctor,stamping}/**/*.ts").scan(
      ROOT,
    )) {
      const text = await Bun.file(join(ROOT, file)).text();
      if (/std(?:out|err)\.write|console\./.test(text) && !file.endsWith("commands/common.ts"))
        found.push(file);
    }
    expect(found).toEqual([]);
  });
});
