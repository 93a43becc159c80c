import { createServer, type Socket } from "node:net";
import { atEnd } from "./at-end.ts";

/** A request with a body of any length, as it came on its connection. */
export type SeenUpload = {
  head: string;
  /** The body without its framing, as far as it came. */
  body: Buffer;
  /** It ended as its framing says. */
  whole: boolean;
  /** The connection is over. */
  gone: boolean;
};

export type UploadUpstream = {
  url: string;
  seen: SeenUpload[];
  close(): Promise<void>;
};

/**
 * A provider on a bare socket that takes uploads, chunked or with a length, and answers each once it is whole.
 * `stalls` reads nothing beyond the first piece; `early` answers some at once, without waiting for the rest.
 */
export async function uploadUpstream(
  answer: (upload: SeenUpload) => { contentType: string; body: string; status?: number },
  { stalls = false, early = (_head: string): boolean => false } = {},
): Promise<UploadUpstream> {
  const seen: SeenUpload[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let pieces = Buffer.alloc(0);
    let upload: SeenUpload | null = null;
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      sockets.delete(socket);
      if (upload) upload.gone = true;
    });
    socket.on("data", (piece) => {
      pieces = Buffer.concat([pieces, Buffer.from(piece)]);
      const headEnd = pieces.indexOf("\r\n\r\n");
      if (headEnd < 0) return;
      if (!upload) {
        upload = {
          head: pieces.toString("latin1", 0, headEnd),
          body: Buffer.alloc(0),
          whole: false,
          gone: false,
        };
        seen.push(upload);
      }
      Object.assign(upload, bodyOf(pieces.subarray(headEnd + 4), upload.head));
      if (stalls) socket.pause();
      if (stalls || !(upload.whole || early(upload.head))) return;
      const { contentType, body, status = 200 } = answer(upload);
      socket.write(
        `HTTP/1.1 ${status} Scripted\r\ncontent-type: ${contentType}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
      pieces = Buffer.alloc(0);
      upload = null;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = address && typeof address === "object" ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    close: atEnd(async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    }),
  };
}

function bodyOf(bytes: Buffer, head: string): Pick<SeenUpload, "body" | "whole"> {
  const length = /^content-length: *(\d+)/im.exec(head)?.[1];
  if (length !== undefined)
    return { body: bytes.subarray(0, Number(length)), whole: bytes.length >= Number(length) };
  if (!/^transfer-encoding:.*chunked/im.test(head)) return { body: bytes, whole: true };
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf("\r\n", at);
    const size = lineEnd < 0 ? -1 : Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    if (size <= 0) return { body: Buffer.concat(parts), whole: size === 0 };
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}
