import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { isBoundedJson } from "#github-app/inbox/json-bounds.ts";
import { readForm } from "#github-app/setup/read-form.ts";
import { formIn } from "#shared/form-body.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

describe("what anyone may send is counted before it is parsed", () => {
  test.each([
    ["[".repeat(65), false],
    [`${"[".repeat(64)}${"]".repeat(64)}`, true],
    [`[${"0,".repeat(1_000_001)}0]`, false],
    [JSON.stringify("[".repeat(10_000)), true],
    [JSON.stringify('"[\\'.repeat(10_000)), true],
    [`"${"[".repeat(100)}`, true],
  ])("JSON %#", (text, expected) => {
    expect(isBoundedJson(bytes(text))).toBe(expected);
  });

  test("any JSON of a few values passes", () => {
    fc.assert(fc.property(fc.json(), (text) => expect(isBoundedJson(bytes(text))).toBe(true)));
  });

  test("a form has 32 fields at most", () => {
    expect(formIn(bytes(`token=x${"&".repeat(31)}`))?.get("token")).toBe("x");
    expect(formIn(bytes(`token=x${"&".repeat(32)}`))).toBeNull();
  });

  test("a form of the set-up page has 16 KiB at most", async () => {
    const post = async (body: string) => {
      const form = await readForm(new Request("http://127.0.0.1/setup/enter", { method: "POST", body }));
      return form instanceof Response ? form.status : form.get("token");
    };
    expect(await post("token=x")).toBe("x");
    expect(await post(`token=${"x".repeat(16 * 1024)}`)).toBe(413);
    expect(await post("a&".repeat(1000))).toBe(413);
  });
});
