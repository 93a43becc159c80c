import { createServer, type Socket } from "node:net";
import { atEnd } from "./at-end.ts";

/** A request as it came over the wire, complete with its body. Header names are lower case. */
export type SeenRequest = { method: string; path: string; headers: Record<string, string>; body: string };

/** What a script does with the connection that a request came on. Everything is written exactly as given. */
export type Reply = {
  /** Writes bytes; no framing is added. */
  raw(bytes: string | Uint8Array): void;
  /** A complete JSON answer. */
  json(body: unknown, status?: number, headers?: Record<string, string>): void;
  /** The head of a chunked answer; follow it by `chunk` and `end`. */
  head(contentType: string, status?: number, headers?: Record<string, string>): void;
  chunk(text: string | Uint8Array): void;
  /** Ends a chunked answer as it should be. */
  end(): void;
  /** Closes without another byte: a broken answer, if one was begun. */
  close(): void;
  /** Resets the connection. */
  reset(): void;
  /** Whether whoever asked has left. */
  gone(): boolean;
};

export type ScriptedUpstream = {
  /** Without a trailing slash. */
  url: string;
  /** Every complete request, in the order of arrival. */
  seen: SeenRequest[];
  close(): Promise<void>;
};

/**
 * A provider that is written on a bare socket, so that a script can break any rule. Requests must have a
 * content-length; connections are kept alive.
 */
export async function scriptedUpstream(
  script: (request: SeenRequest, reply: Reply) => void | Promise<void>,
): Promise<ScriptedUpstream> {
  const seen: SeenRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    let pending = Buffer.alloc(0);
    socket.on("data", (bytes) => {
      pending = Buffer.concat([pending, typeof bytes === "string" ? Buffer.from(bytes) : bytes]);
      for (;;) {
        const parsed = parseRequest(pending);
        if (!parsed) return;
        pending = pending.subarray(parsed.bytes);
        seen.push(parsed.request);
        void script(parsed.request, replyOn(socket));
      }
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

function parseRequest(buffer: Buffer): { request: SeenRequest; bytes: number } | null {
  const headEnd = buffer.indexOf("\r\n\r\n");
  if (headEnd < 0) return null;
  const [line = "", ...fields] = buffer.toString("latin1", 0, headEnd).split("\r\n");
  const [method = "", path = ""] = line.split(" ");
  const headers = Object.fromEntries(
    fields.map((field) => {
      const colon = field.indexOf(":");
      return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
    }),
  );
  const bytes = headEnd + 4 + Number(headers["content-length"] ?? 0);
  if (buffer.length < bytes) return null;
  return { request: { method, path, headers, body: buffer.toString("utf8", headEnd + 4, bytes) }, bytes };
}

function replyOn(socket: Socket): Reply {
  const gone = () => socket.destroyed || socket.readableEnded;
  const raw = (bytes: string | Uint8Array) => {
    if (!socket.destroyed) socket.write(bytes);
  };
  const headOf = (status: number, headers: Record<string, string>) =>
    `HTTP/1.1 ${status} Scripted\r\n${Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join("")}\r\n`;
  return {
    raw,
    json: (body, status = 200, headers = {}) => {
      const text = JSON.stringify(body);
      const length = String(Buffer.byteLength(text));
      raw(
        headOf(status, { "content-type": "application/json", "content-length": length, ...headers }) + text,
      );
    },
    head: (contentType, status = 200, headers = {}) =>
      raw(headOf(status, { "content-type": contentType, "transfer-encoding": "chunked", ...headers })),
    chunk: (text) => {
      const bytes = Buffer.from(text);
      raw(Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]));
    },
    end: () => raw("0\r\n\r\n"),
    close: () => socket.end(),
    reset: () => socket.resetAndDestroy(),
    gone,
  };
}
