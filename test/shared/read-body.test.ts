import { describe, expect, test } from "bun:test";
import { createBodyReader } from "#shared/read-body.ts";

const post = (body: string | ReadableStream) => new Request("http://127.0.0.1/", { method: "POST", body });

/** A body that is sent piece by piece by `push` and ended by `end`. */
function slowBody() {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const stream = new ReadableStream<Uint8Array>({
    start: (it) => {
      controller = it;
    },
  });
  return {
    stream,
    push: (bytes: number) => controller?.enqueue(new Uint8Array(bytes)),
    end: () => controller?.close(),
  };
}

describe("reading a body", () => {
  test("gives its bytes, whatever its pieces", async () => {
    const bodies = createBodyReader({ bytesMax: 100, totalBytesMax: 100, msMax: 5_000 });
    expect(await bodies.read(post("héllo"))).toEqual(new TextEncoder().encode("héllo"));
    expect(await bodies.read(new Request("http://127.0.0.1/"))).toEqual(new Uint8Array());
    const slow = slowBody();
    const read = bodies.read(post(slow.stream));
    slow.push(40);
    slow.push(60);
    slow.end();
    expect(await read).toEqual(new Uint8Array(100));
  });

  test("stops at the first byte too many", async () => {
    const bodies = createBodyReader({ bytesMax: 100, totalBytesMax: 1000, msMax: 5_000 });
    const slow = slowBody();
    const read = bodies.read(post(slow.stream));
    slow.push(101);
    expect(await read).toBe("tooLarge");
  });

  test("refuses a declared length over the limit unread, and gives up on one that never ends", async () => {
    const bodies = createBodyReader({ bytesMax: 100, totalBytesMax: 1000, msMax: 20 });
    const slow = slowBody();
    const request = post(slow.stream);
    request.headers.set("content-length", "101");
    expect([await bodies.read(request), request.bodyUsed]).toEqual(["tooLarge", false]);
    const read = bodies.read(post(slowBody().stream));
    expect(await read).toBe("slow");
  });

  test("refuses what does not fit beside the bodies being read, and takes it when they are gone", async () => {
    const bodies = createBodyReader({ bytesMax: 100, totalBytesMax: 120, msMax: 5_000 });
    const slow = slowBody();
    const first = bodies.read(post(slow.stream));
    slow.push(80);
    await Bun.sleep(5);
    expect(await bodies.read(post("x".repeat(60)))).toBe("full");
    slow.end();
    expect(await first).toHaveLength(80);
    expect(await bodies.read(post("x".repeat(60)))).toHaveLength(60);
  });
});
