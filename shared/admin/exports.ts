import { type Static, Type } from "@sinclair/typebox";
import { closed, matching, oneOf, Removable, Switch, Text, TextOrNull } from "../schema.ts";
import { SingleLine } from "./fields.ts";

const UPLOAD_FORMATS = ["parquet", "csv"] as const;
const Day = Type.String({ format: "date" });

/** `PUT /admin/v1/export/destination`. */
export const ExportDestinationBody = closed({
  endpoint: SingleLine(
    2048,
    "Address of S3, or of a storage that speaks its protocol: `https://s3.eu-central-1.amazonaws.com`.",
  ),
  allow_private_network: Switch(false, "Whether `endpoint` may be plain http, loopback or private."),
  bucket: matching("^[a-z0-9][a-z0-9.-]{1,62}$", "a bucket's name: 2 to 63 of a-z, 0-9, . and -"),
  region: Type.Optional(
    matching("^[a-z0-9-]{1,64}$", "a region such as us-east-1", { default: "us-east-1" }),
  ),
  prefix: Type.Optional(
    matching("^[A-Za-z0-9/_.=-]{0,200}$", "at most 200 letters, digits, /, _, ., = and -", {
      default: "",
      description: "Before the file's name.",
    }),
  ),
  format: Type.Optional(oneOf(UPLOAD_FORMATS, "Default: `parquet`.")),
  access_key_id: SingleLine(256, "Needs to put objects, and nothing else."),
  secret_access_key: Type.Optional(
    SingleLine(1024, "Stored encrypted and never shown again; absent keeps the present one of this bucket."),
  ),
  enabled: Type.Optional(Type.Boolean({ default: true })),
  from: Removable({ ...Day, description: "The first day to upload. Default: the 1st of this month." }),
});
export type ExportDestinationBody = Static<typeof ExportDestinationBody>;

export const ExportDestinationView = closed({
  endpoint: Type.String(),
  allow_private_network: Type.Boolean(),
  bucket: Type.String(),
  region: Type.String(),
  prefix: Type.String(),
  format: oneOf(UPLOAD_FORMATS),
  access_key_id: Type.String(),
  enabled: Type.Boolean(),
  done_until: Text("Days (UTC) before it are uploaded."),
  failure: TextOrNull("Why the last upload failed; null: it did not."),
  next_attempt_at: TextOrNull("When a failed upload is tried again."),
  updated_at: Type.String(),
});
export type ExportDestinationView = Static<typeof ExportDestinationView>;
