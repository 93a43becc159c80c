import { beforeAll, describe, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { linkFor, tokenOf } from "#test/identity/browser.ts";
import { BROWSER, faultsOfAccess, launchBrowser, type Visit, visit } from "#test/support/browser.ts";
import { scratch } from "#test/support/embedded.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";

describe.skipIf(!BROWSER)("the page of a device's code", () => {
  let gateway: LocalGateway;
  let browser: Browser;
  let ada: Visit;

  beforeAll(async () => {
    gateway = await localGateway({ dataDir: `${scratch().path}/gateway` });
    browser = await launchBrowser();
    ada = await visit(browser, { origin: gateway.url });
  });

  const post = async (path: string, fields: Record<string, string>) =>
    (await fetch(`${gateway.url}${path}`, { method: "POST", body: new URLSearchParams(fields) })).json();
  const begin = () => post("/oauth/device_authorization", { surface: "tallygate", device_name: "laptop" });
  const poll = (code: string) =>
    post("/oauth/token", {
      grant_type: "urn:ietf:params:oauth:grant-type:device_code",
      device_code: code,
    });

  test("sends whoever is not signed in to the sign-in and back, and its button approves", async () => {
    const codes = await begin();
    const { page } = ada;
    await page.goto(codes.verification_uri_complete);
    await page.waitForURL(/\/sign-in\?next=/);
    const token = tokenOf(await linkFor(gateway, "ada@example.com"));
    await page.goto(`${page.url()}&token=${token}`);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForURL(codes.verification_uri_complete);
    await page.getByText("laptop").waitFor();
    expect(await faultsOfAccess(page)).toEqual([]);
    expect((await poll(codes.device_code)).error).toBe("authorization_pending");
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByText("The device is signed in").waitFor();
    expect((await poll(codes.device_code)).email).toBe("ada@example.com");
    expect(ada.faults).toEqual([]);
  });

  test("takes a typed code, and refuses the device", async () => {
    const codes = await begin();
    const { page } = ada;
    await page.goto(codes.verification_uri);
    await page.getByLabel("Code").fill(codes.user_code.toLowerCase());
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("button", { name: "Refuse" }).click();
    await page.getByText("The device was refused").waitFor();
    expect((await poll(codes.device_code)).error).toBe("access_denied");
  });

  test("says that a wrong code is wrong, and takes another one", async () => {
    const { page } = ada;
    await page.goto("/device?user_code=BBBB-BBBB");
    await page.getByText("No device waits for this code").waitFor();
    await page.getByRole("button", { name: "Enter another code" }).click();
    await page.getByLabel("Code").waitFor();
  });
});
