import { type Static, Type } from "@sinclair/typebox";
import { closed } from "./schema.ts";

/** What an administrator switches for the whole organisation (`/admin/v1/settings`); read by both processes. */
export const Settings = closed({
  pull_request_stamping: Type.Boolean({
    default: false,
    description: "Whether GitHub deliveries are stored and merged pull requests joined to sessions.",
  }),
  metrics_receiver: Type.Boolean({ default: true, description: "Whether /otel/v1/metrics accepts exports." }),
  hooks: Type.Boolean({ default: true, description: "Whether /hooks/v1/events accepts events." }),
  default_route: Type.String({
    default: "echo",
    pattern: "^[a-z0-9][a-z0-9_-]{0,63}$",
    description: "Route that answers `auto` when no other is confident enough.",
  }),
  retention_days: Type.Integer({
    default: 400,
    minimum: 1,
    maximum: 3650,
    description: "Days for which single records are kept.",
  }),
});
export type Settings = Static<typeof Settings>;

export const DEFAULT_SETTINGS: Settings = {
  pull_request_stamping: false,
  metrics_receiver: true,
  hooks: true,
  default_route: "echo",
  retention_days: 400,
};
