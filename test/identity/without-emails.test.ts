import { expect, test } from "bun:test";
import { withoutEmails } from "#gateway/identity/without-emails.ts";

const masked = (text: string, secret = "secret") => withoutEmails(text, secret);

test("every address is masked, wherever it stands, and the text around it stays valid", () => {
  for (const email of [
    "ada@example.com",
    "a.b+c@sub.example.co.uk",
    "admin@localhost",
    "ada@123.com",
    "\u00FC@b\u00FCcher.de",
  ]) {
    const value = { owner: email, key: `laptop (${email})`, list: [`<${email}>`, `a,${email};b`] };
    const text = masked(JSON.stringify(value));
    expect([email, text.includes("@")]).toEqual([email, false]);
    const name = JSON.parse(text).owner;
    expect(name).toMatch(/^person-[0-9a-f]{12}$/);
    expect(JSON.parse(text)).toEqual({
      owner: name,
      key: `laptop (${name})`,
      list: [`<${name}>`, `a,${name};b`],
    });
  }
});

test("the same person has the same name, in any case, and another one with another secret", () => {
  expect(masked("Ada@Example.com")).toBe(masked("ada@example.com"));
  expect(masked("ada@example.com")).not.toBe(masked("eve@example.com"));
  expect(masked("ada@example.com")).not.toBe(masked("ada@example.com", "other"));
});

test.each([
  "claude-sonnet-4-5@20250929",
  "publishers/google/models/gemini-2.5-flash@default",
  "text-embedding@001",
  "model@latest",
  "@scope/package",
  "a @ b",
])("what is no address stays: %s", (text) => {
  expect(masked(JSON.stringify({ text }))).toBe(JSON.stringify({ text }));
});
