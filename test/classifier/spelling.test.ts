import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { respell } from "#gateway/classifier/spelling.ts";

describe("mistyped words", () => {
  test("exchanged neighbouring letters are put back", () => {
    expect(respell("please wrtie a funciton that prints the date of the day")).toBe(
      "please write a function that prints the date of the day",
    );
  });

  test("a letter that is missing, doubled or another is put right in words that tasks are asked with", () => {
    expect(respell("can you sumarize this paragrapf and then translatee it")).toBe(
      "can you summarize this paragraph and then translate it",
    );
  });

  test("known words, names, other scripts and words of other languages stay as they are", () => {
    const texts = [
      "how do i put grafana dashboards on kubernetes with a dropbox link",
      "write a struct in lisp and printf it",
      "schreib mir bitte eine kurze zusammenfassung",
      "请把这句话翻译成英文",
      "größe naïve résumé",
      "ecris un poème sur le printemps, wrtie",
      "",
      "\n  \n",
    ];
    for (const text of texts) expect(respell(text)).toBe(text);
  });

  test("what is not a word of a to z never changes, and respelled text stays", () => {
    const text = fc.array(
      fc.oneof(fc.constantFrom("wrtie", "teh", "0", "—", "日本", "übre", " ", "\n"), fc.string()),
      {
        maxLength: 12,
      },
    );
    fc.assert(
      fc.property(text, (parts) => {
        const read = parts.join(" ").toLowerCase();
        const once = respell(read);
        expect(once.replace(/[a-z]+/g, "")).toBe(read.replace(/[a-z]+/g, ""));
        expect(respell(once)).toBe(once);
      }),
      { numRuns: 60 },
    );
  });
});
