import { bytes, instant, json, label, orgTable } from "./columns.ts";

/**
 * Trained classifiers of `auto`, so that a restart and a second replica need not train again. Each can be
 * retrained from the routes at any time. Contains no classified text: it is trained from the routes alone.
 */
export const routeModels = orgTable("route_models", {
  /** Prefix of the SHA-256 of the model's training input: the routes' texts, and the built-in words and examples. */
  version: label("version").notNull(),
  /** gzip of the model. */
  model: bytes("model").notNull(),
  /** Results of training: accuracy, confusions, threshold. */
  report: json<Record<string, unknown>>("report").notNull(),
  createdAt: instant("created_at").notNull(),
}).keyedBy(["version"]);
