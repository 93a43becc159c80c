import { type Static, Type } from "@sinclair/typebox";
import { Digest } from "../digest.ts";
import { closed, matching, nullable, Text, TextOrNull } from "../schema.ts";

export const DigestWebhookBody = closed({
  url: matching("^https?://", "an address of at most 2000 characters that begins with https://", {
    maxLength: 2000,
    description: "Address that receives the POST; https, unless `allow_private_network`. A query is kept.",
  }),
  allow_private_network: Type.Optional(Type.Boolean({ default: false })),
});

const webhook = {
  host: Type.String(),
  allow_private_network: Type.Boolean(),
  created_at: Type.String(),
};
export const DigestWebhookView = closed(webhook);
export const DigestWebhookCreated = closed({
  ...webhook,
  secret: Text("`whsec_…`, to verify signatures with. Shown only once."),
});

export const DigestState = closed({
  next_due_at: Type.String(),
  repository: TextOrNull("The setting `digest_repository`."),
  webhook: nullable(DigestWebhookView),
  latest: Type.Array(
    closed({
      due_on: Type.String(),
      channel: Text("`issue` or `webhook`."),
      state: Text("`waiting`, `sent`, `skipped` (switched off at the time) or `given_up`."),
      sent_at: nullable(Type.String()),
      issue_number: nullable(Type.Integer()),
      attempts: Type.Integer(),
      failure: nullable(Type.String()),
    }),
  ),
});
export type DigestState = Static<typeof DigestState>;

export const DigestPreview = closed({ title: Type.String(), text: Type.String(), digest: Digest });
export type DigestPreview = Static<typeof DigestPreview>;
