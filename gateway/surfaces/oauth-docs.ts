import { formSchema } from "./model-docs.ts";

const OPEN = { tags: ["Device sign-in"], security: [] };

const form = (fields: Readonly<Record<string, string>>, required: readonly string[] = []) => ({
  required: required.length > 0,
  content: {
    "application/x-www-form-urlencoded": {
      schema: { ...formSchema(fields), ...(required.length > 0 && { required: [...required] }) },
    },
  },
});

const UNAVAILABLE = { "503": { description: "The database is unavailable at the moment." } };
const REFUSED = { "400": { description: "`error` names the reason." } };

/** How the addresses of device sign-in are documented. They need no credential. */
export const OAUTH_DOCS = {
  metadata: {
    summary: "Where a device signs a person in (RFC 8414)",
    ...OPEN,
    responses: { "200": { description: "The addresses." } },
  },
  device: {
    summary: "Begin to sign a device in (RFC 8628)",
    description:
      "Show `user_code` and `verification_uri` to the person, then ask `/oauth/token` every `interval` seconds.",
    ...OPEN,
    requestBody: form({
      surface: "What runs on the device: `tallygate` or `claude_code`. Default: unknown.",
      device_name: "The computer's name, of up to 60 characters. The key is named after it.",
    }),
    responses: {
      "200": { description: "Both codes, valid for 600 seconds." },
      ...REFUSED,
      "429": { description: "Too many sign-ins of this address have not been finished." },
      ...UNAVAILABLE,
    },
  },
  token: {
    summary: "Get the key of a device that a person has signed in",
    description:
      "A device code yields one key. Claude Code's lasts for `expires_in` seconds and is renewed with `refresh_token`, which changes at each use.",
    ...OPEN,
    requestBody: form(
      {
        grant_type: "`urn:ietf:params:oauth:grant-type:device_code` or `refresh_token`.",
        device_code: "The device's own code.",
        refresh_token: "The newest refresh token.",
      },
      ["grant_type"],
    ),
    responses: {
      "200": { description: "`access_token` is a client key of the person, whose e-mail is `email`." },
      "400": {
        description:
          "`error`: `authorization_pending`, `access_denied`, `expired_token` (or used, or unknown), `invalid_request`, `unsupported_grant_type`.",
      },
      "401": { description: "`invalid_grant`: the refresh token does not count, or its person is disabled." },
      "429": { description: "`slow_down`: the device asks too often." },
      ...UNAVAILABLE,
    },
  },
  revoke: {
    summary: "Revoke a person's client key by presenting it (RFC 7009)",
    description: "A refresh token ends its key, too. An unknown key is answered like a revoked one.",
    ...OPEN,
    requestBody: form({ token: "The key or refresh token." }, ["token"]),
    responses: {
      "200": { description: "The key is refused everywhere within five seconds." },
      ...REFUSED,
      ...UNAVAILABLE,
    },
  },
};
