import { beforeAll, describe, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { SIGN_IN_CAUSES } from "#shared/sign-in-causes.ts";
import { CLIENT, type TestIssuer, testIssuer } from "#test/identity/oidc-provider.ts";
import { BROWSER, faultsOfAccess, launchBrowser, visit } from "#test/support/browser.ts";
import { scratch } from "#test/support/embedded.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";

describe.skipIf(!BROWSER)("the sign-in page", () => {
  const place = scratch();
  let issuer: TestIssuer;
  let gateway: LocalGateway;
  let plain: LocalGateway;
  let browser: Browser;
  beforeAll(async () => {
    issuer = await testIssuer(["http://gateway.test/auth/callback/oidc"]);
    gateway = await localGateway({
      dataDir: `${place.path}/oidc`,
      env: {
        PUBLIC_URL: "http://gateway.test",
        OIDC_ISSUER: issuer.url,
        OIDC_CLIENT_ID: CLIENT.id,
        OIDC_CLIENT_SECRET: CLIENT.secret,
      },
    });
    plain = await localGateway({ dataDir: `${place.path}/plain`, databaseUrl: gateway.databaseUrl });
    browser = await launchBrowser();
  });

  test("has a button for each way that is set up, which leads to the identity provider", async () => {
    const { page } = await visit(browser, { origin: gateway.url });
    await page.goto("/sign-in?next=/reports");
    const button = page.getByRole("link", { name: `Sign in with ${new URL(issuer.url).host}` });
    expect(await button.getAttribute("href")).toBe("/auth/sign-in/oidc?next=%2Freports");
    expect(await faultsOfAccess(page)).toEqual([]);
    await button.click();
    await page.waitForURL((url) => url.origin === issuer.url);
    expect(await page.locator("form").count()).toBe(1);
  });

  test("says that none is set up, and how to get a one-time link", async () => {
    const { page, faults } = await visit(browser, { origin: plain.url });
    await page.goto("/sign-in");
    await page.getByText("No single sign-on is set up").waitFor();
    await page.getByText("tallygate sign-in-link EMAIL").waitFor();
    expect(faults).toEqual([]);
  });

  test("says why a way is off where anyone can have an account, and shows no button for it", async () => {
    const env = {
      PUBLIC_URL: "http://gateway.test",
      OIDC_ISSUER: "https://accounts.google.com",
      OIDC_CLIENT_ID: CLIENT.id,
      OIDC_CLIENT_SECRET: CLIENT.secret,
    };
    const { url } = await localGateway({ dataDir: `${place.path}/google`, env });
    const { page, faults } = await visit(browser, { origin: url });
    await page.goto("/sign-in");
    await page.getByText("Sign-in at accounts.google.com is off: anyone can have an account there").waitFor();
    expect(await page.getByRole("link", { name: "Sign in with" }).count()).toBe(0);
    expect(await faultsOfAccess(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  test("says why a sign-in failed, for each cause, and repeats nothing of the address", async () => {
    const { page, faults, follow } = await visit(browser, { origin: plain.url });
    await page.goto("/sign-in");
    for (const [cause, sentence] of Object.entries(SIGN_IN_CAUSES)) {
      await follow(`/sign-in?error=${cause}`);
      await page.getByRole("alert").getByText(sentence).waitFor();
    }
    for (const unknown of ["toString", "You+won"]) {
      await follow(`/sign-in?error=${unknown}`);
      await page.getByRole("alert").getByText("The sign-in failed. Start it again.").waitFor();
      expect(await page.getByText("You won").count()).toBe(0);
    }
    expect(await faultsOfAccess(page)).toEqual([]);
    expect(faults).toEqual([]);
  });
});
