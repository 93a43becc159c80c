import { describe, expect, test } from "bun:test";
import { readCredentials } from "#gateway/http/credentials.ts";

const NONE = { gatewayKey: null, bearer: null, apiKey: null, googleKey: null, azureKey: null };

describe("readCredentials", () => {
  test.each([
    [
      "all of them are read, trimmed",
      {
        "x-gateway-key": " g ",
        authorization: " Bearer  b ",
        "x-api-key": "a\t",
        "x-goog-api-key": " k",
        "api-key": "z ",
      },
      { gatewayKey: "g", bearer: "b", apiKey: "a", googleKey: "k", azureKey: "z" },
    ],
    ["the scheme's case does not matter", { authorization: "bEARER b" }, { ...NONE, bearer: "b" }],
    ["another scheme is no bearer", { authorization: "Basic dTpw" }, NONE],
    ["a scheme without a credential is absent", { authorization: "Bearer " }, NONE],
    ["a credential without a scheme is absent", { authorization: "tg_abc" }, NONE],
    [
      "an empty header is absent",
      { "x-gateway-key": "", authorization: "", "x-api-key": "  ", "x-goog-api-key": "" },
      NONE,
    ],
    ["no header, no credential", {}, NONE],
  ])("%s", (_, headers, expected) => {
    expect(readCredentials(new Headers(headers))).toEqual(expected);
  });

  test("a repeated Authorization, x-api-key or x-goog-api-key is unusable and counts as absent", () => {
    const headers = new Headers();
    for (const value of ["a", "b"]) {
      headers.append("authorization", `Bearer ${value}`);
      headers.append("x-api-key", value);
      headers.append("x-goog-api-key", value);
    }
    expect(readCredentials(headers)).toEqual(NONE);
  });

  test("a repeated x-gateway-key is no key, but is present and therefore still decides alone", () => {
    const headers = new Headers({ "x-api-key": "a" });
    headers.append("x-gateway-key", "g");
    headers.append("x-gateway-key", "g");
    expect(readCredentials(headers)).toEqual({ ...NONE, gatewayKey: "g, g", apiKey: "a" });
  });
});
