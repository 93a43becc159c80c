import { describe, expect, test } from "bun:test";
import { readRevertBranch, readRevertClaims } from "#github-app/facts/revert.ts";

const SHA = "c4295bd74fb0f4fda03689c3df3f2803b658fd85";
const OTHER = "0123456789abcdef0123456789abcdef01234567";

describe("claims of a body", () => {
  const byBody: [body: string, repository: string | null, number: number][] = [
    ["Reverts octo/hello.world#12", "octo/hello.world", 12],
    ["Reverts #7815", null, 7815],
    ["Reverts octo/hello#2109\r\n", "octo/hello", 2109],
    ["Reverts #4.", null, 4],
    ["Reverts https://github.com/octo/hello.world/pull/12", "octo/hello.world", 12],
    ["Reverts http://ghe.example.com:8443/octo/hello/pull/7/.", "octo/hello", 7],
    ["It broke the build.\n\nReverts octo/hello#3\n\nGateway-Session: a", "octo/hello", 3],
  ];
  test.each(byBody)("%j names a pull request", (body, repository, number) => {
    expect(readRevertClaims(body)).toEqual({ byBody: [{ repository, number }], bySha: [] });
  });

  const bySha: [body: string, ...shas: string[]][] = [
    [`This reverts commit ${SHA}.`, SHA],
    [`This reverts commit ${SHA}, reversing\nchanges made to ${OTHER}.`, SHA],
    [`This reverts commit ${SHA}.\n\nThis reverts commit ${OTHER}.`, OTHER, SHA],
    [`This reverts commit ${SHA}${OTHER.slice(0, 24)}.`, `${SHA}${OTHER.slice(0, 24)}`],
  ];
  test.each(bySha)("%j names commits", (body, ...shas) => {
    expect(readRevertClaims(body)).toEqual({ byBody: [], bySha: shas });
  });

  const none = [
    null,
    "",
    'Revert "Update the README"',
    "Reverts parts of #12",
    "Reverts #0",
    "Reverts /pull/12",
    "Reverts octo/hello/pull/12",
    "Reverts https://github.com/octo/hello/issues/12",
    "Reverts https://github.com/octo/hello/pull/12/files",
    "Reverts #99999999999",
    "> Reverts #12",
    "```\nReverts #12\n```",
    "<!-- Reverts #12 -->",
    `This reverts commit ${SHA.slice(0, 12)}.`,
    `This reverts commit ${SHA}abc.`,
    `As in "This reverts commit ${SHA}."`,
  ];
  test.each(none)("%j claims nothing", (body) => {
    expect(readRevertClaims(body)).toEqual({ byBody: [], bySha: [] });
  });

  test("at most twenty of each are kept, once each", () => {
    const lines = Array.from({ length: 60 }, (_, index) => `Reverts #${(index % 30) + 1}`);
    expect(readRevertClaims(lines.join("\n")).byBody).toHaveLength(20);
  });
});

test("the button's head branch names the pull request", () => {
  expect(readRevertBranch("revert-12-changes")).toBe(12);
  expect(readRevertBranch("revert-12")).toBeNull();
  expect(readRevertBranch("revert-x-12")).toBeNull();
  expect(readRevertBranch("revert-0-x")).toBeNull();
  expect(readRevertBranch("revert-99999999999-x")).toBeNull();
  expect(readRevertBranch("feature/revert-12-x")).toBeNull();
});
