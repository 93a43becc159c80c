import { expect, test } from "bun:test";
import { connect } from "node:net";
import { utf8Header } from "#gateway/http/labels.ts";

/** What the server makes of a header whose value is these very bytes. */
async function overTheWire(value: Buffer): Promise<string | null> {
  const { promise, resolve } = Promise.withResolvers<string | null>();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      resolve(utf8Header(request.headers.get("x-tags")));
      return new Response();
    },
  });
  const socket = connect(server.port ?? 0, "127.0.0.1");
  const start = `GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Tags: `;
  socket.end(Buffer.concat([Buffer.from(start), value, Buffer.from("\r\n\r\n")]));
  try {
    return await promise;
  } finally {
    socket.destroy();
    await server.stop(true);
  }
}

test("a header sent in UTF-8 is read as it was written", async () => {
  expect(await overTheWire(Buffer.from("équipe 日本語 😀", "utf8"))).toBe("équipe 日本語 😀");
});

test("a header sent in Latin-1 is read as it was written", async () => {
  expect(await overTheWire(Buffer.from("équipe", "latin1"))).toBe("équipe");
});

test("a text that never was on a wire, and no text, stay what they are", () => {
  expect(utf8Header("日本語")).toBe("日本語");
  expect(utf8Header("plain")).toBe("plain");
  expect(utf8Header(null)).toBeNull();
});
