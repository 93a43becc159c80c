import { documented, formSchema, NO_DATABASE } from "./documented.ts";

/** They need no credential. */
const OPEN = { tag: "Device sign-in", by: [] };

const form = (fields: Readonly<Record<string, string>>, required: readonly string[] = []) => ({
  "application/x-www-form-urlencoded": {
    schema: { ...formSchema(fields), ...(required.length > 0 && { required: [...required] }) },
  },
});

const REFUSED = { 400: "`error` names the reason." };

export const OAUTH_DOCS = {
  metadata: documented("Where a device signs a person in (RFC 8414)", {
    ...OPEN,
    answers: { 200: "The addresses." },
  }),
  device: {
    ...documented("Begin to sign a device in (RFC 8628)", {
      ...OPEN,
      description:
        "Show `user_code` and `verification_uri` to the person, then ask `/oauth/token` every `interval` seconds.",
      answers: {
        200: "Both codes, valid for 600 seconds.",
        ...REFUSED,
        429: "Too many sign-ins of this address have not been finished.",
        ...NO_DATABASE,
      },
    }),
    requestBody: {
      required: false,
      content: form({
        surface: "What runs on the device: `tallygate` or `claude_code`. Default: unknown.",
        device_name: "The computer's name, of up to 60 characters. The key is named after it.",
      }),
    },
  },
  token: documented("Get the key of a device that a person has signed in", {
    ...OPEN,
    description:
      "A device code yields one key. Claude Code's lasts for `expires_in` seconds and is renewed with `refresh_token`, which changes at each use.",
    body: form(
      {
        grant_type: "`urn:ietf:params:oauth:grant-type:device_code` or `refresh_token`.",
        device_code: "The device's own code.",
        refresh_token: "The newest refresh token.",
      },
      ["grant_type"],
    ),
    answers: {
      200: "`access_token` is a client key of the person, whose e-mail is `email`.",
      400: "`error`: `authorization_pending`, `access_denied`, `expired_token` (or used, or unknown), `invalid_request`, `unsupported_grant_type`.",
      401: "`invalid_grant`: the refresh token does not count, or its person is disabled.",
      429: "`slow_down`: the device asks too often.",
      ...NO_DATABASE,
    },
  }),
  revoke: documented("Revoke a person's client key by presenting it (RFC 7009)", {
    ...OPEN,
    description: "A refresh token ends its key, too. An unknown key is answered like a revoked one.",
    body: form({ token: "The key or refresh token." }, ["token"]),
    answers: { 200: "The key is refused everywhere within five seconds.", ...REFUSED, ...NO_DATABASE },
  }),
};
