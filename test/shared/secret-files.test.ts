import { expect, test } from "bun:test";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { takeSecretFiles } from "#shared/env.ts";
import { scratch } from "#test/support/embedded.ts";

const place = scratch().path;
const file = (name: string, text: string): string => {
  const path = join(place, name);
  writeFileSync(path, text);
  chmodSync(path, 0o400);
  return path;
};

test("secrets come from the files that NAME_FILE names, and from no other variable of that form", () => {
  const env: Record<string, string | undefined> = {
    ADMIN_KEY_FILE: file("admin", "an-admin-key\n"),
    OPENAI_API_KEY_FILE: file("openai", " sk-1 "),
    OIDC_CLIENT_SECRET_FILE: file("oidc", "at the issuer\n"),
    PRIVATE_KEY_FILE: file("pem", "-----BEGIN-----\nabc\n-----END-----\n"),
    DATABASE_URL_FILE: "",
    SSL_CERT_FILE: file("cert", "certificate"),
  };
  const { SSL_CERT_FILE: certificate } = env;
  takeSecretFiles(env);
  expect(env).toEqual({
    ADMIN_KEY: "an-admin-key",
    OPENAI_API_KEY: "sk-1",
    OIDC_CLIENT_SECRET: "at the issuer",
    PRIVATE_KEY: "-----BEGIN-----\nabc\n-----END-----",
    DATABASE_URL_FILE: "",
    SSL_CERT_FILE: certificate,
  });
});

test("both at once, and files that cannot be read, are named as faults without their content", () => {
  const env = { MASTER_KEY: "x", MASTER_KEY_FILE: file("master", "y"), ADMIN_KEY_FILE: join(place, "none") };
  expect(() => takeSecretFiles(env)).toThrow(
    /MASTER_KEY and MASTER_KEY_FILE are both set.*\n.*ADMIN_KEY_FILE names a file that cannot be read: it does not exist/,
  );
});
