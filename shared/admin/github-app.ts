import { type Static, Type } from "@sinclair/typebox";
import { closed, Flag, Integer, nullable, TextOrNull } from "../schema.ts";
import { Instant } from "./fields.ts";

const AnyText = nullable(Type.String());

/** What the GitHub App knows of itself and of its registration on GitHub. */
export const GithubAppReport = closed({
  url: TextOrNull("`GITHUB_APP_URL`: where GitHub and browsers reach it; null: not set."),
  port: Type.Integer(),
  webhook_path: Type.String(),
  can_register: Flag("False: its settings come from the environment."),
  receives: Flag("Whether it has a webhook secret, so that it accepts webhooks."),
  app: nullable(
    closed({
      id: Type.Integer(),
      slug: AnyText,
      html_url: TextOrNull("Null: it was not registered here."),
    }),
  ),
  secret_pending: Flag("Whether a new webhook secret is accepted that GitHub has not confirmed."),
  former_secret_until: nullable(Instant("Until when the former webhook secret is accepted, too.")),
  missing: Type.Array(Type.String(), {
    description: "Permissions and events that the settings need and its registration lacks.",
  }),
  installations: Type.Array(closed({ account: Type.String(), missing: Type.Array(Type.String()) }), {
    description: "Active ones, each with the permissions that its account has not accepted.",
  }),
  failed_deliveries: nullable(
    closed({
      total: Integer("Deliveries looked at: the last hundred."),
      failed: Type.Integer(),
      at: Instant("When the last one failed."),
      status: Integer("How it was answered; 0: GitHub got no answer."),
    }),
  ),
  fault: TextOrNull("Why GitHub did not confirm the App."),
});
export type GithubAppReport = Static<typeof GithubAppReport>;

const WaitingMerge = closed({
  repository_id: Type.Integer(),
  repository: TextOrNull("`owner/name`; null: not known."),
  number: Type.Integer(),
  author: AnyText,
  session: Type.String(),
  merged_at: Instant("When it was merged."),
});

/** The answer of `GET /admin/v1/github-app`. */
export const GithubAppView = closed({
  running: Flag("Whether a process of the App ran within the last minute."),
  address: TextOrNull("Where a browser reaches the App; null: it never ran."),
  report: nullable(GithubAppReport),
  reached_at: nullable(Instant("When a correctly signed delivery last arrived.")),
  refused: Type.Array(closed({ answer: Type.String(), at: Instant("When it last was.") }), {
    description: "When deliveries were last refused, for each reason.",
  }),
  waiting_merges: Type.Array(WaitingMerge, {
    description:
      "Merged pull requests of the last 30 days that name a session, and arrived while `pull_request_stamping` was off; at most 100, the latest first. Switching it on joins them.",
  }),
});
export type GithubAppView = Static<typeof GithubAppView>;
