import { boolean } from "drizzle-orm/pg-core";
import { instant, label, leaseColumns, orgTable } from "./columns.ts";

/** The bucket that gets the day's FOCUS rows. */
export const exportDestinations = orgTable("export_destinations", {
  endpoint: label("endpoint").notNull(),
  allowPrivateNetwork: boolean("allow_private_network").notNull(),
  bucket: label("bucket").notNull(),
  region: label("region").notNull(),
  prefix: label("prefix").notNull(),
  format: label("format").$type<"csv" | "parquet">().notNull(),
  accessKeyId: label("access_key_id").notNull(),
  /** AES-256-GCM, sealed with the master key and bound to the endpoint and the bucket. */
  secret: label("secret").notNull(),
  enabled: boolean("enabled").notNull(),
  /** Days (UTC) before it are there. */
  doneUntil: instant("done_until").notNull(),
  ...leaseColumns,
  updatedAt: instant("updated_at").notNull(),
}).keyedBy([]);
