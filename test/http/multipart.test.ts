import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { GatewayError } from "#gateway/errors.ts";
import { boundaryOf } from "#gateway/http/content-type.ts";
import { type MultipartEvent, multipartScanner } from "#gateway/http/multipart.ts";

type Part = { name: string; filename: string | null; content: Buffer };

/** The parts as the scanner saw them, and all bytes that it gave back. */
function scan(
  body: Buffer,
  boundary: string,
  cuts: readonly number[],
): { parts: Part[]; bytes: Buffer; ended: boolean } {
  const scanner = multipartScanner(boundary);
  const events: MultipartEvent[] = [];
  const ends = [...new Set([...cuts.map((cut) => cut % (body.length + 1)), body.length])].sort(
    (a, b) => a - b,
  );
  let from = 0;
  for (const end of ends) {
    events.push(...scanner.push(body.subarray(from, end)).map(copied));
    from = end;
  }
  scanner.end();
  const parts: Part[] = [];
  for (const event of events) {
    if (event.kind === "part")
      parts.push({ name: event.part.name, filename: event.part.filename, content: Buffer.alloc(0) });
    const last = parts.at(-1);
    if (event.kind === "content" && last) last.content = Buffer.concat([last.content, event.bytes]);
  }
  const bytes = Buffer.concat(events.flatMap((event) => ("bytes" in event ? [event.bytes] : [])));
  return { parts, bytes, ended: events.some(({ kind }) => kind === "end") };
}

const copied = (event: MultipartEvent): MultipartEvent =>
  "bytes" in event ? { ...event, bytes: event.bytes.slice() } : event;

function written(parts: readonly Part[], boundary: string): Buffer {
  return Buffer.concat([
    ...parts.flatMap(({ name, filename, content }) => [
      Buffer.from(
        `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${filename === null ? "" : `; filename="${filename}"\r\nContent-Type: application/octet-stream`}\r\n\r\n`,
      ),
      content,
      Buffer.from("\r\n"),
    ]),
    Buffer.from(`--${boundary}--\r\n`),
  ]);
}

/** Contents that look like delimiters, but are none. */
const tricky = (boundary: string) =>
  fc
    .array(
      fc.oneof(
        fc.constantFrom(
          "\r",
          "\n",
          "\r\n",
          "-",
          "--",
          "\r\n-",
          `\r\n--${boundary.slice(0, -1)}`,
          `--${boundary}`,
          "\0",
        ),
        fc.string({ maxLength: 8 }),
      ),
      { maxLength: 12 },
    )
    .map((pieces) => Buffer.from(pieces.join("")))
    .filter((content) => !content.includes(`\n--${boundary}`));

const NAMES = [
  "model",
  "image",
  "image[]",
  "mask",
  "prompt",
  "timestamp_granularities[]",
  "expires_after[anchor]",
  "ü",
];

describe("a multipart body", () => {
  const boundaries = ["x", "----WebKitFormBoundary7MA4YWxk", "a'()+_,-./:=?z", "--", "0 1"];

  test("is read alike whatever the chunks, and gives every byte back", () => {
    const bodies = fc.constantFrom(...boundaries).chain((boundary) =>
      fc.record({
        boundary: fc.constant(boundary),
        parts: fc.array(
          fc.record({
            name: fc.constantFrom(...NAMES),
            filename: fc.constantFrom(null, "a.png", "sp ace.jsonl", ""),
            content: tricky(boundary),
          }),
          { maxLength: 5 },
        ),
      }),
    );
    fc.assert(
      fc.property(bodies, fc.array(fc.nat(400), { maxLength: 20 }), ({ boundary, parts }, cuts) => {
        const body = written(parts, boundary);
        const seen = scan(body, boundary, cuts);
        expect(seen.parts).toEqual(parts);
        expect(seen.bytes.equals(body)).toBe(true);
        expect(seen.ended).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test("is read byte by byte as it is read whole", () => {
    const parts = [
      { name: "model", filename: null, content: Buffer.from("gpt-image-1") },
      { name: "image[]", filename: "a.png", content: Buffer.from("\r\n--x\r\r\n--") },
    ];
    const body = written(parts, "xy");
    expect(scan(body, "xy", [...body.keys()]).parts).toEqual(parts);
  });

  test("is read as the platform's own reader reads it", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom("model", "prompt", "a b"), fc.string({ maxLength: 20 })), {
          maxLength: 4,
        }),
        fc.array(fc.nat(500), { maxLength: 8 }),
        async (fields, cuts) => {
          const form = new FormData();
          for (const [name, value] of fields) form.append(name, value);
          form.append("file", new File(["line 1\nline 2\n"], "a.jsonl"));
          const request = new Request("http://x.invalid", { method: "POST", body: form });
          const boundary = boundaryOf(request.headers.get("content-type"));
          const body = Buffer.from(await request.arrayBuffer());
          const reference = await new Response(body, {
            headers: { "content-type": request.headers.get("content-type") ?? "" },
          }).formData();
          const texts = await Promise.all(
            [...reference].map(async ([name, value]) => [
              name,
              typeof value === "string" ? value : await (value as File).text(),
            ]),
          );
          expect(
            scan(body, boundary ?? "", cuts).parts.map(({ name, content }) => [name, content.toString()]),
          ).toEqual(texts as string[][]);
        },
      ),
      { numRuns: 60 },
    );
  });

  const one = (head: string) => `--x\r\n${head}\r\n\r\nvalue\r\n--x--\r\n`;
  const DISPOSITION = 'Content-Disposition: form-data; name="a"';
  test.each([
    ["a preamble", `hello\r\n${one(DISPOSITION)}`],
    ["an epilogue", `${one(DISPOSITION)}more`],
    ["bare line feeds", one(DISPOSITION).replaceAll("\r\n", "\n")],
    [
      "a delimiter after a bare line feed",
      one(DISPOSITION).replace("value", 'v\n--x\r\nContent-Disposition: form-data; name="model"\r\n\r\nb'),
    ],
    ["padding after a boundary", one(DISPOSITION).replace("--x\r\n", "--x \r\n")],
    ["no last boundary", one(DISPOSITION).replace("--x--", "--x")],
    ["`name*`", one(`${DISPOSITION}; name*=utf-8''model`)],
    ["two names", one(`${DISPOSITION}; name="model"`)],
    ["no name", one("Content-Disposition: form-data")],
    ["no head", one("").replace("\r\n\r\n\r\n", "\r\n\r\n")],
    ["two dispositions", one(`${DISPOSITION}\r\ncontent-disposition: form-data; name="model"`)],
    ["a folded header", one('Content-Disposition: form-data;\r\n name="a"')],
    ["an escaped quotation mark", one('Content-Disposition: form-data; filename="a\\"; name="b"')],
    ["a name with a backslash", one('Content-Disposition: form-data; name="mod\\el"')],
    ["another disposition", one('Content-Disposition: attachment; name="a"')],
    ["a head over 16 KiB", one(`${DISPOSITION}\r\nx: ${"y".repeat(17_000)}`)],
  ])("with %s is refused", (_, body) => {
    expect(() => scan(Buffer.from(body), "x", [])).toThrow(GatewayError);
  });

  test("tells files from fields, also where they have no file name", () => {
    const kinds = [
      [DISPOSITION, false],
      [`${DISPOSITION}\r\nContent-Type: text/plain; charset=utf-8`, false],
      [`${DISPOSITION}\r\nContent-Type: image/png`, true],
      [`${DISPOSITION}; filename="a.txt"\r\nContent-Type: text/plain`, false],
      [`${DISPOSITION}; filename="a.png"\r\nContent-Type: image/png`, true],
      ['content-disposition: form-data; name="image"; filename=""', true],
      ["content-disposition: form-data; name=mask; FileName*=utf-8''%c3%bc.png", true],
      ["content-disposition: FORM-DATA; NAME=file; filename=C:\\x.png", true],
    ] as const;
    for (const [head, isFile] of kinds) {
      const events = multipartScanner("x").push(Buffer.from(one(head)));
      const part = events.find((event) => event.kind === "part");
      expect(part?.kind === "part" && part.part).toMatchObject({ isFile });
    }
  });

  test.each([
    "Content-Transfer-Encoding: quoted-printable",
    "Content-Transfer-Encoding: base64",
    "Content-Type: text/plain; charset=utf-7",
    'Content-Type: text/plain; Charset="iso-8859-1"',
  ])("refuses a part with %s, which providers read in two ways", (header) => {
    expect(() => multipartScanner("x").push(Buffer.from(one(`${DISPOSITION}\r\n${header}`)))).toThrow();
  });
});

describe("the boundary", () => {
  test.each([
    ["multipart/form-data; boundary=abc", "abc"],
    ['Multipart/Form-Data; charset=utf-8; Boundary="a b;c"', null],
    ['multipart/form-data; boundary="a (b):c"', "a (b):c"],
    ["multipart/form-data ;boundary=a'b", "a'b"],
    ["multipart/form-data", null],
    ["multipart/form-data; boundary=", null],
    ["multipart/form-data; boundary=a; boundary=b", null],
    ["multipart/form-data; boundary=a; boundary*=b", null],
    [`multipart/form-data; boundary=${"a".repeat(71)}`, null],
    ['multipart/form-data; boundary="a "', null],
    ['multipart/form-data; boundary="a\\"b"', null],
    ["multipart/mixed; boundary=a", null],
    ["application/json", null],
    [null, null],
  ])("of %p is %p", (type, boundary) => {
    expect(boundaryOf(type)).toBe(boundary);
  });
});
