import { type Static, Type } from "@sinclair/typebox";
import { closed, matching, nullable, oneOf, Switch, TextOrNull } from "../schema.ts";
import { Dated, Name, SingleLine } from "./fields.ts";

export const ALERT_KINDS = [
  ...["threshold", "forecast_overrun", "anomaly", "unpriced_model"],
  ...["provider_failing", "stamped_share_falling", "reconciliation_gap"],
] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

const RECEIVER_KINDS = ["webhook", "slack", "teams", "email"] as const;

const To = closed({
  kind: oneOf(RECEIVER_KINDS),
  url: SingleLine(
    2048,
    "Of the webhook; for e-mail of the server, as `smtps://user:password@mail.example.com`, or with `smtp://` for STARTTLS. Stored encrypted; only its end is shown.",
  ),
  secret: Type.Optional(
    matching("^whsec_[A-Za-z0-9+/]{22,}={0,2}$", "whsec_ and at least 16 bytes in base64", {
      maxLength: 256,
      description:
        "Of a webhook, which it signs: `whsec_` and at least 16 bytes in base64. Stored encrypted; only its end is shown.",
    }),
  ),
  addresses: Type.Optional(
    Type.Array(matching("^[^\\s@,;<>]{1,64}@[^\\s@,;<>]{1,255}$", "an e-mail address"), {
      minItems: 1,
      maxItems: 20,
      uniqueItems: true,
      description: "Who gets the e-mails.",
    }),
  ),
  from: Type.Optional(SingleLine(320, "The sender of the e-mails.")),
  allow_private_network: Switch(
    false,
    "Whether `url` may be plain http, unencrypted SMTP, loopback or private.",
  ),
});
export type Receiver = Static<typeof To>;

const members = {
  on: Type.Array(oneOf(ALERT_KINDS), { minItems: 1, uniqueItems: true, description: "What it is about." }),
  to: To,
};
const enabled = Type.Optional(Type.Boolean({ default: true }));

/** `POST /admin/v1/alerts`. */
export const AlertBody = closed({ name: Name, ...members, enabled });
/** `PATCH /admin/v1/alerts/{name}`: absent members are kept; `to` is replaced completely. */
export const AlertPatch = closed({
  on: Type.Optional(members.on),
  to: Type.Optional(To),
  enabled,
});
export type AlertPatch = Static<typeof AlertPatch>;

export const AlertView = closed({
  name: Name,
  on: Type.Array(oneOf(ALERT_KINDS)),
  to: {
    ...closed({ ...To.properties, secret: Type.Optional(Type.String()) }),
    description: "`url` and `secret` are `…` and their ends.",
  },
  enabled: Type.Boolean(),
  last_sent_at: nullable(Type.String()),
  failure: TextOrNull("The class of the last failure since something was last sent."),
  ...Dated,
});
export type AlertView = Static<typeof AlertView>;

/** `POST /admin/v1/alerts/{name}/test`. */
export const AlertTest = closed({
  delivered: Type.Boolean(),
  failure: TextOrNull("Why not."),
});
export type AlertTest = Static<typeof AlertTest>;
