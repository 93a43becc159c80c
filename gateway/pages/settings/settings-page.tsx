import { PageHead } from "../parts/page-head.tsx";
import { SettingsForm } from "./settings-form.tsx";

/** What applies to the whole installation. */
export const SettingsPage = () => (
  <>
    <PageHead title="Settings" />
    <SettingsForm
      title="Calls and records"
      fields={[
        {
          name: "default_route",
          label: "Default route",
          kind: "text",
          required: true,
          help: "Answers auto if no other route is likely enough.",
        },
        {
          name: "retention_days",
          label: "Keep single records for, days",
          kind: "integer",
          required: true,
          help: "Reports about older days stay.",
        },
        {
          name: "batch_basis",
          label: "Price batches at",
          kind: "choice",
          options: ["interactive", "list"],
          help: "interactive is at most what they cost; list is the price list's batch price.",
        },
      ]}
    />
    <SettingsForm
      title="Agents"
      fields={[
        { name: "metrics_receiver", label: "Accept agents' own metrics at /otel/v1/metrics", kind: "switch" },
        { name: "hooks", label: "Accept events of managed hooks at /hooks/v1/events", kind: "switch" },
        {
          name: "claude_settings",
          label: "Claude Code's managed settings",
          kind: "json",
          nullable: true,
          placeholder: '{"permissions": {"deny": ["WebFetch"]}}',
          help: "A JSON object that Claude Code fetches once its user has signed in here. A team's own settings replace it.",
        },
        {
          name: "own_key_template",
          label: "What people's own keys may do",
          kind: "json",
          required: true,
          help: 'A JSON object of scopes and limits, such as {"limits": {"budget_usd": "100"}}. A team\'s own template replaces it.',
        },
      ]}
    />
    <SettingsForm
      title="Weekly digest"
      fields={[
        {
          name: "digest_repository",
          label: "Repository",
          kind: "text",
          nullable: true,
          placeholder: "owner/name",
          help: "Gets the digest as an issue. Empty: none.",
        },
        {
          name: "digest_day",
          label: "Day",
          kind: "choice",
          options: ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"],
        },
        { name: "digest_hour", label: "Hour, UTC", kind: "integer", required: true },
      ]}
    />
  </>
);
