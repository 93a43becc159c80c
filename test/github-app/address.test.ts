import { expect, test } from "bun:test";
import { reachFault } from "#github-app/setup/address.ts";

test.each(["http://localhost:8788", "http://127.0.0.1:8788", "https://[::1]/"])(
  "%s is the server itself, for GitHub and for an Enterprise Server",
  async (url) => {
    for (const isEnterprise of [false, true])
      expect((await reachFault(url, isEnterprise))?.text).toContain("the server itself");
  },
);

test.each([
  "https://10.1.2.3",
  "https://192.168.1.5:8788",
  "https://172.20.0.1",
  "https://100.64.0.1",
  "https://[fd00::1]",
  "https://tallygate.local",
  "https://tallygate",
])("%s is private: GitHub does not reach it, an Enterprise Server may", async (url) => {
  expect((await reachFault(url, false))?.text).toContain("private network");
  expect(await reachFault(url, true)).toBeNull();
});

test("a public address needs https, and nothing else", async () => {
  expect(await reachFault("https://93.184.216.34", false)).toBeNull();
  expect((await reachFault("http://93.184.216.34", false))?.text).toContain("not https");
});

test.each([
  "https://169.254.169.254",
  "http://168.63.129.16",
  "https://[fd20:ce::254]",
  "https://metadata.goog",
])("%s is a cloud's metadata service: the page refuses it, for an Enterprise Server, too", async (url) => {
  for (const isEnterprise of [false, true])
    expect(await reachFault(url, isEnterprise)).toMatchObject({ refused: true });
});
