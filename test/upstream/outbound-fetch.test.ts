import { afterAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createOutboundFetch } from "#gateway/upstream/outbound-fetch.ts";
import { type AddressGuard, addressGuard } from "#gateway/upstream/ssrf.ts";
import { systemClock } from "#shared/clock.ts";

const tls = (name: string) => join(import.meta.dir, "../fixtures/tls", name);

/** Answers with the host that it was asked as, on one address of several that are this machine. */
const answerer = (secure: boolean) =>
  Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    ...(secure && {
      tls: {
        cert: readFileSync(tls("model.test.cert.pem")),
        key: readFileSync(tls("model.test.key.pem")),
      },
    }),
    fetch: async (request: Request) => new Response(`${request.headers.get("host")} ${await request.text()}`),
  });
const plain = answerer(false);
const secure = answerer(true);
afterAll(async () => {
  await plain.stop(true);
  await secure.stop(true);
});

const askBy =
  (guard: Pick<AddressGuard, "resolveOrigin">) =>
  (url: string, body: string | ReadableStream<Uint8Array> = "body"): Promise<string> =>
    createOutboundFetch(guard)(
      { url, allowPrivateNetwork: true },
      { method: "POST", headers: {}, body, signal: new AbortController().signal },
    ).then(
      (answer) => answer.text(),
      (error: Error & { code?: string }) => error.code ?? error.name,
    );
const reaching = (addresses: string[]) =>
  askBy(addressGuard(systemClock, { resolve: async () => addresses }));

describe("a host that an administrator named", () => {
  // No resolver knows `model.test` (RFC 2606): whoever asked one again would not get there.
  const url = `http://model.test:${plain.port}/v1?key=k`;

  test("is connected to at the address that was checked, and asked by its name", async () => {
    expect(await reaching(["127.0.0.1"])(url)).toBe(`model.test:${plain.port} body`);
  });

  test("is connected to at its next address where one takes no connection, which is then tried last", async () => {
    const guard = addressGuard(systemClock, { resolve: async () => ["127.0.0.2", "127.0.0.1"] });
    expect(await askBy(guard)(url)).toBe(`model.test:${plain.port} body`);
    const ways = await guard.resolveOrigin(`http://model.test:${plain.port}`, true);
    expect(ways.map(({ origin }) => origin)).toEqual([
      `http://127.0.0.1:${plain.port}`,
      `http://127.0.0.2:${plain.port}`,
    ]);
  });

  test("gets a body that can be read only once by the way that leads to it", async () => {
    const bytes = new TextEncoder().encode("streamed");
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(bytes);
        controller.close();
      },
    });
    expect(await reaching(["127.0.0.2", "127.0.0.1"])(url, body)).toBe(`model.test:${plain.port} streamed`);
  });

  test("fails as a connection does when no address takes one", async () => {
    expect(await reaching(["127.0.0.2", "127.0.0.3"])(url)).toBe("ECONNREFUSED");
  });

  test("is left to a proxy to resolve where the environment names one", async () => {
    const guard = addressGuard(systemClock, { resolve: async () => ["93.184.216.34"], proxied: true });
    expect(await guard.resolveOrigin("https://api.example.com", false)).toEqual([
      { origin: null, host: "api.example.com", serverName: "api.example.com" },
    ]);
  });

  test("need not be known here where a proxy resolves it; one that leads inside is refused all the same", async () => {
    const resolve = async (host: string): Promise<string[]> => {
      if (host === "inside.example.com") return ["10.0.0.1"];
      throw new Error("ENOTFOUND");
    };
    const guard = addressGuard(systemClock, { resolve, proxied: true });
    expect(await guard.resolveOrigin("https://api.example.com", false)).toMatchObject([{ origin: null }]);
    await expect(guard.resolveOrigin("https://inside.example.com", false)).rejects.toThrow();
    await expect(guard.resolveOrigin("https://169.254.169.254", false)).rejects.toThrow();
  });

  test("has a certificate for its name, or is no host of that name", async () => {
    const script = `
      const { createOutboundFetch } = await import("${join(import.meta.dir, "../../gateway/upstream/outbound-fetch.ts")}");
      const { addressGuard } = await import("${join(import.meta.dir, "../../gateway/upstream/ssrf.ts")}");
      const { systemClock } = await import("${join(import.meta.dir, "../../shared/clock.ts")}");
      const reach = createOutboundFetch(addressGuard(systemClock, { resolve: async () => ["127.0.0.1"] }));
      for (const host of ["model.test", "model.test.", "other.test", "model.test"]) {
        const url = "https://" + host + ":${secure.port}/";
        const request = { method: "POST", headers: {}, signal: new AbortController().signal };
        console.log(await reach({ url, allowPrivateNetwork: true }, request).then((it) => it.status, (e) => e.code));
      }`;
    const child = Bun.spawn([process.execPath, "-e", script], {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: tls("model.test.cert.pem") },
      stdout: "pipe",
    });
    const said = await new Response(child.stdout).text();
    expect(said.trim().split("\n")).toEqual(["200", "200", "ERR_TLS_CERT_ALTNAME_INVALID", "200"]);
  });
});
