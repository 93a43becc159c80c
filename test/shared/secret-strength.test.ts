import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { readLauncherConfig } from "#gateway/config.ts";
import { ConfigurationError } from "#shared/env.ts";
import { readGithubAppConfig } from "#shared/github-app-config.ts";
import { isWeakSecret } from "#shared/secret-strength.ts";

const WEAK = [
  "aaaaaaaaaaaaaaaa",
  "abababababababababab",
  "passwordpassword",
  "Password12345678",
  "changeme-changeme",
  "1234567890123456",
  "admin-admin-admin-admin",
  "secret-secret-secret",
];

const faultsOf = (read: () => unknown): readonly string[] => {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.faults;
    throw error;
  }
};

test.each(WEAK)("%s is refused as an admin key and as a webhook secret", (secret) => {
  const [adminFault] = faultsOf(() => readLauncherConfig({ ADMIN_KEY: secret }));
  expect(adminFault).toStartWith("ADMIN_KEY has an invalid value; expected ");
  const github = { DATABASE_URL: "postgres://u@h/d", WEBHOOK_SECRET: secret };
  const [webhookFault] = faultsOf(() => readGithubAppConfig(github));
  expect(webhookFault).toStartWith("WEBHOOK_SECRET has an invalid value; expected ");
  expect(`${adminFault} ${webhookFault}`).not.toContain(secret);
});

test("random secrets of 16 characters and more are accepted, in hexadecimal too", () => {
  for (let tries = 0; tries < 2_000; tries++) {
    expect(isWeakSecret(randomBytes(12).toString("base64url"))).toBe(false);
    expect(isWeakSecret(randomBytes(10).toString("hex"))).toBe(false);
  }
});
