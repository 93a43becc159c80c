import type { ProviderView } from "#shared/admin/providers.ts";
import { PageHead } from "../parts/page-head.tsx";
import { switchColumn, textColumn } from "./cells.tsx";
import type { Field } from "./fields.ts";
import { ProviderTest } from "./provider-test.tsx";
import { type ResourceFacts, ResourcePanel } from "./resource-panel.tsx";

/** The kinds that most installations have; any row of the catalogue can be entered. */
const FIELDS: readonly Field[] = [
  {
    name: "name",
    label: "Name",
    kind: "text",
    required: true,
    createOnly: true,
    help: "1 to 64 of a-z, 0-9, _ and -.",
  },
  {
    name: "kind",
    label: "Kind",
    kind: "text",
    required: true,
    placeholder: "openai",
    help: "A row of the catalogue: openai, anthropic, azure, gemini, mistral, groq, openai-compatible, …",
  },
  {
    name: "credential",
    label: "Credential",
    kind: "secret",
    help: "Stored encrypted, never shown again. Leave it empty to keep the present one.",
  },
  {
    name: "base_url",
    label: "Address",
    kind: "text",
    nullable: true,
    help: "Only if it is not the vendor's own. Changing it clears the credential.",
  },
  {
    name: "models",
    label: "Models",
    kind: "lines",
    nullable: true,
    placeholder: "gpt-*",
    help: "Globs of the models it serves, one a line. Empty: as the price list says.",
  },
  {
    name: "first_byte_seconds",
    label: "Seconds until an answer must begin",
    kind: "integer",
    nullable: true,
    placeholder: "600",
  },
  {
    name: "idle_seconds",
    label: "Longest pause in an answer, seconds",
    kind: "integer",
    nullable: true,
    placeholder: "300",
  },
  { name: "subscription_passthrough", label: "Callers' own subscriptions may pay", kind: "switch" },
  {
    name: "allow_private_network",
    label: "Allow plain http, loopback and private addresses",
    kind: "switch",
  },
  { name: "enabled", label: "Enabled", kind: "switch", initial: true },
];

const FACTS: ResourceFacts<ProviderView> = {
  path: "/admin/v1/providers",
  title: "Providers",
  noun: "provider",
  idOf: ({ name }) => name,
  nameOf: ({ name }) => name,
  columns: [
    textColumn("name", "Name", { of: ({ name }) => name }),
    textColumn("kind", "Kind", { of: ({ kind }) => kind }),
    textColumn("address", "Address", { of: ({ base_url: url }) => url, none: "the vendor's own" }),
    textColumn("credential", "Credential", {
      of: ({ credential_source: source }) => (source === "none" ? null : source),
      none: "none",
    }),
    {
      id: "health",
      head: "Health",
      cell: ({ health }) => <Health health={health} />,
    },
    switchColumn(({ enabled }) => enabled),
  ],
  fields: FIELDS,
  empty: "A provider answers your calls. Add one with its kind and a credential.",
  removal: { verb: "Delete", effect: "Its credential is deleted too. Records keep its name." },
  actions: ({ name }) => <ProviderTest name={name} />,
};

function Health({ health }: Pick<ProviderView, "health">) {
  const [worst] = health.filter(({ state }) => state !== "closed");
  if (!worst) return <span className="mute">no failures</span>;
  return <span className="tag bad">paused: {worst.cause.replaceAll("_", " ")}</span>;
}

/** Who answers calls, and with which credential. */
export const ProvidersPage = () => (
  <>
    <PageHead title="Providers" />
    <ResourcePanel facts={FACTS} />
  </>
);
