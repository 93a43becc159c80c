import { expect, test } from "bun:test";
import { readBody } from "#gateway/plugins/body.ts";
import { patient } from "#test/support/patient.ts";

const sent = (headers: Record<string, string>) =>
  readBody(patient(), new Request("http://gateway/", { method: "POST", headers, body: "{}" }), {
    bytesMax: 10,
  });

test("a compressed body is refused by what it is, not as broken text", async () => {
  for (const coding of ["gzip", "zstd", "br", "gzip, identity"]) {
    expect(sent({ "content-encoding": coding })).rejects.toThrow("must not have a content-encoding");
  }
  for (const headers of [{}, { "content-encoding": "identity" }, { "content-encoding": "" }]) {
    expect(new TextDecoder().decode(await sent(headers))).toBe("{}");
  }
});
