import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { ClaudeSettings } from "./admin/claude-settings.ts";
import { RepositoryField, ROUTE_NAME } from "./admin/fields.ts";
import { KeyTemplate } from "./admin/keys.ts";
import { Group } from "./admin/role-mappings.ts";
import { closed, fits, matching, nullable, OnOff, oneOf } from "./schema.ts";

export const WEEKDAYS = [
  "sunday",
  "monday",
  "tuesday",
  "wednesday",
  "thursday",
  "friday",
  "saturday",
] as const;
export type Weekday = (typeof WEEKDAYS)[number];

const RepositoryNames = matching(
  "^[A-Za-z0-9_.-]{1,100}/([A-Za-z0-9_.-]{1,100}|\\*)$",
  "a repository as owner/name, or owner/* for all of an owner's",
);

/** Settings of the whole organisation (`/admin/v1/settings`), set by administrators; both processes read them. */
export const Settings = closed({
  pull_request_stamping: OnOff(false, "Store GitHub deliveries and join merged pull requests to sessions."),
  metrics_receiver: OnOff(true, "Accept exports at /otel/v1/metrics."),
  hooks: OnOff(true, "Accept events at /hooks/v1/events."),
  default_route: matching(ROUTE_NAME.source, "the name of a route", {
    default: "echo",
    description: "Route that answers `auto` if no other is confident enough.",
  }),
  retention_days: Type.Integer({
    default: 400,
    minimum: 1,
    maximum: 3650,
    description: "Days to keep single records. Reports about older days stay.",
  }),
  report_time_zone: Type.String({
    default: "UTC",
    maxLength: 64,
    description: "IANA time zone in which days, weeks and months of reports and of the console begin.",
  }),
  cors_origins: Type.Array(
    matching(
      "^(?:[*]|https?://[a-z0-9.-]{1,253}(?::[0-9]{1,5})?)$",
      "*, or an origin such as https://app.example.com",
    ),
    {
      default: [],
      maxItems: 100,
      uniqueItems: true,
      description:
        "Origins of web pages that may call the gateway with a client key, such as https://app.example.com; `*`: any. Pages never send cookies there.",
    },
  ),
  prices_auto: OnOff(
    false,
    "Price the unpriced records of this month as soon as the fetched price list has a price for their model.",
  ),
  batch_basis: {
    ...oneOf(["interactive", "list"]),
    default: "interactive",
    description:
      "Prices for recording batches. `interactive`: prices of interactive calls, an upper bound. `list`: batch prices of the price list, if it has them.",
  },
  pull_request_backfill_days: Type.Integer({
    default: 90,
    minimum: 0,
    maximum: 3650,
    description: "Days of pull requests to read when the App first sees a repository; 3650 means all.",
  }),
  pull_request_check: OnOff(
    false,
    "Show on each pull request whether it is stamped, as a check run. Needs `checks: write`.",
  ),
  pull_request_comment: OnOff(
    false,
    "Comment on merged pull requests with their cost. Needs `pull_requests: write`.",
  ),
  feedback_include: Type.Array(RepositoryNames, {
    default: [],
    maxItems: 1000,
    description:
      "Public repositories (`owner/name` or `owner/*`) in which costs and sessions may be shown; private ones need not be named.",
  }),
  feedback_exclude: Type.Array(RepositoryNames, {
    default: [],
    maxItems: 1000,
    description: "Repositories (`owner/name` or `owner/*`) in which the App shows nothing.",
  }),
  not_stamped_bots: OnOff(
    true,
    "Whether bots' pull requests without a session are shown and counted as not stamped.",
  ),
  digest_repository: Type.Union(
    [
      RepositoryField(
        "Repository (`owner/name`) in which the App opens the weekly digest as an issue; requires `issues: write`. Null: none.",
      ),
      Type.Null(),
    ],
    { default: null },
  ),
  digest_day: { ...oneOf(WEEKDAYS, "Day on which the weekly digest is due."), default: "monday" },
  own_key_template: {
    ...KeyTemplate,
    default: {},
    description:
      "Scopes and limits of the keys that people make for themselves, unless their team has a template.",
  },
  sign_in: {
    ...closed({
      allowed_domains: Type.Optional(
        Type.Array(matching("^[^\\s@/:.*]{1,63}([.][^\\s@/:.*]{1,63})+$", "a domain such as example.com"), {
          minItems: 1,
          maxItems: 1000,
          uniqueItems: true,
          description: "Domains of the e-mail addresses that may sign in, such as example.com. Absent: any.",
        }),
      ),
      required_groups: Type.Optional(
        Type.Array(Group, {
          minItems: 1,
          maxItems: 1000,
          uniqueItems: true,
          description: "Groups of which one must be the person's. Absent: none is needed.",
        }),
      ),
    }),
    default: {},
    description:
      "Who may sign in at an identity provider. Without either list, providers where anyone can have an account are off.",
  },
  claude_settings: {
    ...nullable(ClaudeSettings),
    default: null,
    description:
      "Managed settings for people who sign in with Claude Code, unless their team has its own. Null: none.",
  },
  digest_hour: Type.Integer({
    default: 7,
    minimum: 0,
    maximum: 23,
    description: "Hour (UTC) at which the weekly digest is due on `digest_day`.",
  }),
});
export type Settings = Static<typeof Settings>;

// Every member of the schema has a default, so the value is whole.
export const DEFAULT_SETTINGS = Value.Default(Settings, {}) as Settings;

/** Stored settings, with the default for each member that is absent. */
export function settingsOf(stored: Readonly<Record<string, unknown>>): Settings {
  const known = Object.entries(stored).filter(
    ([name, value]) =>
      Object.hasOwn(Settings.properties, name) && fits(Settings.properties[name as keyof Settings], value),
  );
  return { ...DEFAULT_SETTINGS, ...Object.fromEntries(known) };
}
