import { expect, test } from "bun:test";
import { connect } from "node:net";
import { residentBytes, settledBytes } from "#test/support/resident-bytes.ts";
import { until } from "#test/support/until.ts";
import { uploadUpstream } from "#test/support/upload-upstream.ts";
import { wiredProcess } from "#test/support/wired-gateway.ts";

const MEBIBYTE = 1024 ** 2;

test.skipIf(process.platform !== "linux")(
  "an upload of 512 MiB to a provider that has stalled costs less than 32 MiB of memory",
  async () => {
    const upstream = await uploadUpstream(() => ({ contentType: "application/json", body: "{}" }), {
      stalls: true,
    });
    const gateway = await wiredProcess({ chat: `${upstream.url}/v1`, messages: upstream.url });
    try {
      const head = `--x\r\ncontent-disposition: form-data; name="model"\r\n\r\ngpt-4o\r\n--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n`;
      const { hostname, port } = new URL(gateway.url);
      // The first call warms up what every call needs.
      await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${gateway.secret}` } });
      const before = await settledBytes(gateway.pid());
      const socket = connect(Number(port), hostname);
      socket.on("error", () => undefined);
      socket.write(
        `POST /v1/audio/transcriptions HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${gateway.secret}\r\ncontent-type: multipart/form-data; boundary=x\r\ncontent-length: ${512 * MEBIBYTE}\r\n\r\n${head}`,
      );
      const piece = Buffer.alloc(64 * 1024, 65);
      let sent = 0;
      let most = 0;
      const fill = () => {
        while (sent < 511 * MEBIBYTE && socket.write(piece)) sent += piece.length;
      };
      socket.on("drain", fill);
      fill();
      await until(() => upstream.seen.length > 0);
      for (let round = 0; round < 20; round++) {
        await Bun.sleep(100);
        most = Math.max(most, await residentBytes(gateway.pid()));
      }
      expect(sent).toBeLessThan(64 * MEBIBYTE);
      expect(most - before).toBeLessThan(32 * MEBIBYTE);
      socket.destroy();
    } finally {
      await upstream.close();
      await gateway.close();
    }
  },
);

test.skipIf(process.platform !== "linux")("nor does an upload of 256 MiB that flows", async () => {
  let bytes = 0;
  const sink = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    maxRequestBodySize: 1024 * MEBIBYTE,
    async fetch(request) {
      for await (const piece of request.body ?? []) bytes += piece.byteLength;
      return Response.json({ text: "" });
    },
  });
  const gateway = await wiredProcess({ chat: `${sink.url}v1`, messages: sink.url.origin });
  try {
    const head = `--x\r\ncontent-disposition: form-data; name="model"\r\n\r\ngpt-4o\r\n--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n`;
    const piece = new Uint8Array(64 * 1024).fill(65);
    let left = 4096;
    let begun = false;
    const body = new ReadableStream({
      pull(controller) {
        if (!begun) controller.enqueue(Buffer.from(head));
        begun = true;
        if (left-- > 0) controller.enqueue(piece);
        else {
          controller.enqueue(Buffer.from("\r\n--x--\r\n"));
          controller.close();
        }
      },
    });
    const before = await settledBytes(gateway.pid());
    let most = 0;
    const watch = setInterval(
      () => void residentBytes(gateway.pid()).then((now) => (most = Math.max(most, now))),
      50,
    );
    const answer = await fetch(`${gateway.url}/v1/audio/transcriptions`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${gateway.secret}`,
        "content-type": "multipart/form-data; boundary=x",
      },
      body,
    });
    clearInterval(watch);
    expect(answer.status).toBe(200);
    expect(bytes).toBe(256 * MEBIBYTE + head.length + "\r\n--x--\r\n".length);
    // Pieces in flight and not yet collected; all of it would be 256 MiB and more.
    expect(most - before).toBeLessThan(176 * MEBIBYTE);
  } finally {
    await gateway.close();
    await sink.stop(true);
  }
});
