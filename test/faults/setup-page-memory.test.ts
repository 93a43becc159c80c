import { expect, test } from "bun:test";
import { connect } from "node:net";
import { startGithubApp } from "#test/support/github-app-process.ts";
import { testDatabase } from "#test/support/postgres.ts";
import { residentBytes } from "#test/support/resident-bytes.ts";

const MEBIBYTE = 1024 * 1024;

test.skipIf(process.platform !== "linux")(
  "forty bodies of 24 MB to the set-up page's entry, which anyone may send, take no memory",
  async () => {
    const { url: databaseUrl } = await testDatabase();
    const app = await startGithubApp({
      DATABASE_URL: databaseUrl,
      ADMIN_KEY: "an-admin-key-of-some-length",
      MASTER_KEY: "5".repeat(64),
    });
    const before = await residentBytes(app.pid());
    const { hostname, port } = new URL(app.url);
    const body = Buffer.alloc(24_000_000, "a");
    const frames = {
      declared: [`content-length: ${body.byteLength}`, [body]],
      chunked: ["transfer-encoding: chunked", [`${body.byteLength.toString(16)}\r\n`, body]],
    } as const;
    let peak = before;
    for (const [header, parts] of Object.values(frames)) {
      const statuses = Array.from({ length: 20 }, () => {
        const answered = Promise.withResolvers<string>();
        const socket = connect(Number(port), hostname, () => {
          socket.write(`POST /setup/enter HTTP/1.1\r\nhost: ${hostname}\r\n${header}\r\n\r\n`);
          for (const part of parts) socket.write(part);
        });
        socket.on("data", (bytes) => answered.resolve(String(bytes).slice(9, 12)));
        socket.on("error", () => answered.resolve("closed"));
        socket.on("close", () => answered.resolve("closed"));
        return answered.promise.finally(() => setTimeout(() => socket.destroy(), 500));
      });
      const done = Promise.all(statuses);
      let isDone = false;
      void done.then(() => {
        isDone = true;
      });
      while (!isDone) {
        peak = Math.max(peak, await residentBytes(app.pid()));
        await Bun.sleep(50);
      }
      expect(new Set(await done)).toEqual(new Set(["413"]));
    }
    await Bun.sleep(300);
    peak = Math.max(peak, await residentBytes(app.pid()));
    expect((peak - before) / MEBIBYTE).toBeLessThan(200);
    expect((await fetch(`${app.url}/healthz`)).status).toBe(200);
    await app.stop();
  },
);
