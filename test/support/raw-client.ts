import { connect, type Socket } from "node:net";

/** What came back over a bare socket. */
export type RawAnswer = {
  /** 0 where nothing that is a head came. */
  status: number;
  /** By lower-case name; repeated ones in the order they came. */
  headers: Map<string, string[]>;
  /** What of the body came, without its framing. */
  body: Buffer;
  /** The answer ended as its own framing says; false for one that broke off. */
  whole: boolean;
};

const BLANK_LINE = "\r\n\r\n";

/** A connection that shows everything: what is sent is written as given, and nothing is smoothed over. */
export type RawConnection = {
  socket: Socket;
  /** All bytes so far. */
  bytes(): Buffer;
  /** The first answer, once it is whole or the connection has ended. */
  answer(): Promise<RawAnswer>;
};

export function rawConnection(url: string, request: string | Uint8Array): RawConnection {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  const parts: Buffer[] = [];
  let ended = false;
  let changed = Promise.withResolvers<void>();
  const change = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  const end = () => {
    ended = true;
    change();
  };
  socket.on("data", (part) => {
    parts.push(Buffer.from(part));
    change();
  });
  socket.on("end", end).on("close", end).on("error", end);
  socket.write(request);
  return {
    socket,
    bytes: () => Buffer.concat(parts),
    async answer() {
      for (;;) {
        const next = changed.promise;
        const answer = parseAnswer(Buffer.concat(parts), ended);
        if (answer.whole || ended) {
          socket.destroy();
          return answer;
        }
        await next;
      }
    },
  };
}

/** Sends one request and reads its answer. */
export const rawAnswer = (url: string, request: string | Uint8Array): Promise<RawAnswer> =>
  rawConnection(url, request).answer();

/** The text of a POST with a JSON body; `headers` as written on the wire. */
export function rawPost(
  path: string,
  headers: Record<string, string>,
  body: string | Uint8Array,
): Uint8Array {
  const bytes = Buffer.from(body as string);
  const lines = Object.entries({
    host: "gateway.example",
    "content-type": "application/json",
    "content-length": String(bytes.byteLength),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join("")}\r\n`), bytes]);
}

function parseAnswer(bytes: Buffer, ended: boolean): RawAnswer {
  const headEnd = bytes.indexOf(BLANK_LINE);
  if (headEnd < 0) return { status: 0, headers: new Map(), body: Buffer.alloc(0), whole: false };
  const [first = "", ...lines] = bytes.toString("latin1", 0, headEnd).split("\r\n");
  const headers = new Map<string, string[]>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).toLowerCase();
    headers.set(name, [...(headers.get(name) ?? []), line.slice(colon + 1).trim()]);
  }
  const rest = bytes.subarray(headEnd + BLANK_LINE.length);
  const status = Number(first.split(" ")[1] ?? 0);
  if (status === 204) return { status, headers, body: Buffer.alloc(0), whole: true };
  return { status, headers, ...bodyOf(rest, headers, ended) };
}

function bodyOf(
  rest: Buffer,
  headers: RawAnswer["headers"],
  ended: boolean,
): Pick<RawAnswer, "body" | "whole"> {
  if (headers.get("transfer-encoding")?.includes("chunked")) return dechunked(rest);
  const length = headers.get("content-length")?.[0];
  if (length === undefined) return { body: rest, whole: ended };
  return { body: rest.subarray(0, Number(length)), whole: rest.byteLength >= Number(length) };
}

function dechunked(rest: Buffer): Pick<RawAnswer, "body" | "whole"> {
  const parts: Buffer[] = [];
  let at = 0;
  for (;;) {
    const lineEnd = rest.indexOf("\r\n", at);
    if (lineEnd < 0) return { body: Buffer.concat(parts), whole: false };
    const size = Number.parseInt(rest.toString("latin1", at, lineEnd), 16);
    if (size === 0) return { body: Buffer.concat(parts), whole: rest.byteLength >= lineEnd + 4 };
    const from = lineEnd + 2;
    parts.push(rest.subarray(from, from + size));
    if (rest.byteLength < from + size + 2) return { body: Buffer.concat(parts), whole: false };
    at = from + size + 2;
  }
}
