import { beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { signIn } from "#test/identity/browser.ts";
import { TALLYGATE } from "#test/support/checkout.ts";
import { scratch } from "#test/support/embedded.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";
import { TRANSPILED } from "#test/support/transpiled.ts";
import { until } from "#test/support/until.ts";

const place = scratch();
const work = join(place.path, "work");
let gateway: LocalGateway;
let computers = 0;

beforeAll(async () => {
  gateway = await localGateway({ dataDir: join(place.path, "gateway") });
  mkdirSync(work);
  const git = Bun.spawnSync(["git", "init", "--quiet", "--initial-branch=task", "."], { cwd: work });
  expect(git.exitCode).toBe(0);
});

/** A computer of a person: its home, and a browser that notes what it is to open. */
function computer() {
  const home = join(place.path, `home-${computers++}`);
  const programs = join(home, "programs");
  const opened = join(home, "opened");
  mkdirSync(programs, { recursive: true });
  writeFileSync(join(programs, "xdg-open"), `#!/bin/sh\nprintf %s "$1" > '${opened}'\n`);
  chmodSync(join(programs, "xdg-open"), 0o755);
  const start = (words: readonly string[], env: Record<string, string> = {}) =>
    Bun.spawn([...TALLYGATE, ...words], {
      cwd: work,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...TRANSPILED, HOME: home, PATH: `${programs}:${process.env["PATH"]}`, DISPLAY: ":9", ...env },
    });
  const end = async (child: ReturnType<typeof start>) => {
    const [out, error] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    return { code: await child.exited, out, error };
  };
  return {
    file: join(home, ".config/tallygate/login.json"),
    start,
    end,
    run: (words: readonly string[], env?: Record<string, string>) => end(start(words, env)),
    /** The address that the browser was given. */
    opened: async (): Promise<string> => {
      await until(async () => (await Bun.file(opened).exists()) && (await Bun.file(opened).text()) !== "");
      const address = await Bun.file(opened).text();
      await Bun.file(opened).delete();
      return address;
    },
  };
}

type Computer = ReturnType<typeof computer>;

/** Logs a person in who approves, or refuses, in the browser that opens. */
async function login(it: Computer, email: string, approve = true) {
  const child = it.start(["login", "--url", gateway.url]);
  const ended = it.end(child);
  const address = new URL(await it.opened());
  expect(address.pathname).toBe("/device");
  const person = await signIn(gateway, email);
  const code = address.searchParams.get("user_code");
  expect((await person.send("POST", `/v1/me/devices/${code}`, { approve })).status).toBe(204);
  const { out, ...rest } = await ended;
  expect(out).toContain(`code: ${code}`);
  return { ...rest, out, person };
}

const keyIn = async ({ file }: Computer): Promise<string> => (await Bun.file(file).json()).key;
const statusOf = async (key: string) =>
  (await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).status;

const CALL = `curl -sS "$ANTHROPIC_BASE_URL/v1/messages" -H "authorization: Bearer $ANTHROPIC_AUTH_TOKEN" -H "content-type: application/json" \
  -d '{"model":"echo","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}'`;

describe("a person who logs in", () => {
  test("has a key that run and usage take, and that is gone after logout", async () => {
    const laptop = computer();
    const { code, out, error } = await login(laptop, "ada@example.com");
    expect([code, error]).toEqual([0, ""]);
    expect(out).toContain("Signed in as ada@example.com");
    const key = await keyIn(laptop);
    expect(out).not.toContain(key);
    expect(statSync(laptop.file).mode & 0o777).toBe(0o600);
    expect(statSync(join(laptop.file, "..")).mode & 0o777).toBe(0o700);

    const ran = await laptop.run(["run", "--", "sh", "-c", `${CALL}; printf ' key=%s' "$TALLYGATE_KEY"`]);
    expect([ran.code, ran.out]).toEqual([0, expect.stringContaining(`key=${key}`)]);
    expect(ran.out).toContain('"type":"message"');

    let text = "";
    await until(async () => {
      text = (await laptop.run(["usage"])).out;
      return text.includes("echo");
    });
    expect(text).toContain("ada@example.com");
    expect(text).toMatch(/^model +calls +tokens in +tokens out +USD$/m);
    expect(text.split("\n").every((line) => Bun.stringWidth(line) <= 80)).toBe(true);
    expect((await laptop.run(["whoami"])).out).toMatch(
      new RegExp(`^ada@example\\.com \\(.+\\), member.*\\ngateway {2}${gateway.url}\\nkey {6}\\S`),
    );
    expect((await laptop.run(["budget"])).out).toMatch(
      /^Spent .*\nThe next month begins on \d{4}-\d\d-01 \(UTC\)\./,
    );
    const json = JSON.parse((await laptop.run(["usage", "--json"])).out);
    expect(json).toMatchObject({
      me: { email: "ada@example.com" },
      models: { rows: [{ groups: ["echo"] }] },
    });

    const left = await laptop.run(["logout"]);
    expect([left.code, left.out]).toEqual([0, expect.stringContaining("is revoked")]);
    expect(await Bun.file(laptop.file).exists()).toBe(false);
    expect(await statusOf(key)).toBe(401);
    expect((await laptop.run(["logout"])).error).toContain("you are not logged in");
  });

  test("again, has another key, and the former one is revoked", async () => {
    const laptop = computer();
    const { person } = await login(laptop, "bob@example.com");
    const former = await keyIn(laptop);
    expect((await login(laptop, "bob@example.com")).code).toBe(0);
    expect([await statusOf(former), await statusOf(await keyIn(laptop))]).toEqual([401, 200]);
    const { keys } = await (await person.send("GET", "/v1/me")).json();
    expect(keys).toHaveLength(1);
  });

  test("and is refused, keeps nothing", async () => {
    const laptop = computer();
    const { code, error } = await login(laptop, "eve@example.com", false);
    expect([code, error]).toEqual([1, "The sign-in was refused.\n"]);
    expect(await Bun.file(laptop.file).exists()).toBe(false);
  });
});

describe("a key that does not count", () => {
  test("is explained: revoked, of another gateway, damaged, or not there", async () => {
    const laptop = computer();
    const nobody = await laptop.run(["usage", "--url", gateway.url]);
    expect([nobody.code, nobody.error]).toEqual([1, expect.stringContaining("tallygate login")]);
    const { person } = await login(laptop, "carol@example.com");
    const key = await keyIn(laptop);
    const { keys } = await (await person.send("GET", "/v1/me")).json();

    const elsewhere = await laptop.run(["usage", "--url", "http://127.0.0.1:9"]);
    expect([elsewhere.code, elsewhere.error]).toEqual([1, expect.stringContaining("not logged in at")]);
    const other = await laptop.run(["run", "--", "sh", "-c", 'echo "[$TALLYGATE_KEY]"'], {
      TALLYGATE_URL: "http://127.0.0.1:9",
    });
    expect(other.out).toBe("[]\n");

    await person.send("DELETE", `/v1/me/keys/${keys[0].id}`);
    const revoked = await laptop.run(["usage"]);
    expect([revoked.code, revoked.error]).toEqual([1, expect.stringContaining("was revoked")]);
    const ran = await laptop.run(["run", "--", "sh", "-c", "echo ran"]);
    expect([ran.code, ran.out, ran.error]).toEqual([1, "", expect.stringContaining("tallygate login")]);

    await Bun.write(laptop.file, "{");
    const damaged = await laptop.run(["usage"]);
    expect([damaged.code, damaged.error]).toEqual([1, expect.stringContaining("is damaged")]);
    expect(damaged.error + revoked.error + ran.error).not.toContain(key);
  });

  test("of the login counts after a key that is given", async () => {
    const laptop = computer();
    await login(laptop, "dora@example.com");
    const { secret } = await gateway.admin<{ secret: string }>("POST", "/keys", {
      name: "given",
      owner: "given@example.com",
    });
    const env = { TALLYGATE_URL: gateway.url, TALLYGATE_KEY: secret };
    expect((await laptop.run(["usage"], env)).out).toContain("given@example.com");
    expect((await laptop.run(["usage"])).out).toContain("dora@example.com");

    const wrong = { ...env, TALLYGATE_KEY: `tg_${"a".repeat(43)}` };
    expect((await laptop.run(["usage"], wrong)).error).toContain("Correct TALLYGATE_KEY, or unset it");
    const service = await gateway.admin<{ secret: string }>("POST", "/keys", { name: "service" });
    const nobodys = { ...env, TALLYGATE_KEY: service.secret };
    expect((await laptop.run(["usage"], nobodys)).error).toContain("has no owner");
    const noAdmin = { ...env, ADMIN_KEY: "", DATA_DIR: laptop.file };
    expect((await laptop.run(["report"], noAdmin)).error).toContain("--reports");
  });
});

describe("while the gateway is away", () => {
  test("login and usage say so, run starts all the same, and logout says what remains", async () => {
    const away = "http://127.0.0.1:9";
    const laptop = computer();
    const asked = await laptop.run(["login", "--url", away]);
    expect([asked.code, asked.error]).toEqual([1, expect.stringContaining(`Nothing answers at ${away}`)]);
    mkdirSync(join(laptop.file, ".."), { recursive: true });
    const key = `tg_${"a".repeat(39)}wxyz`;
    await Bun.write(laptop.file, JSON.stringify({ url: away, key, email: "ada@example.com" }));
    chmodSync(laptop.file, 0o644);
    expect((await laptop.run(["usage"])).error).toContain(`Nothing answers at ${away}`);
    expect(statSync(laptop.file).mode & 0o777).toBe(0o600);
    const ran = await laptop.run(["run", "--", "sh", "-c", "echo ran"]);
    expect([ran.code, ran.out, ran.error]).toEqual([0, "ran\n", expect.stringContaining("does not answer")]);
    const left = await laptop.run(["logout"]);
    expect([left.code, left.out]).toEqual([1, "The key is deleted from this computer.\n"]);
    expect(left.error).toContain("still valid");
    expect(left.error).toContain("wxyz");
    expect(left.error).not.toContain(key);
    expect(await Bun.file(laptop.file).exists()).toBe(false);
  });
});
