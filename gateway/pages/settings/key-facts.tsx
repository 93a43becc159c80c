import type { KeyView } from "#shared/admin/keys.ts";
import { momentColumn, textColumn } from "./cells.tsx";
import type { Field } from "./fields.ts";
import { KeyActions } from "./key-actions.tsx";
import type { ResourceFacts } from "./resource-panel.tsx";
import { SecretOnce, secretOf } from "./secret-once.tsx";

export const LIMIT_FIELDS: readonly Field[] = [
  { name: "limits.requests_per_minute", label: "Requests per minute", kind: "integer" },
  { name: "limits.tokens_per_minute", label: "Tokens per minute", kind: "integer" },
  { name: "limits.concurrency", label: "Calls at once", kind: "integer" },
  { name: "limits.budget_usd", label: "Budget, USD", kind: "decimal", placeholder: "25.00" },
  {
    name: "limits.budget_period",
    label: "Budget period",
    kind: "choice",
    options: ["day", "month"],
    none: "month",
  },
];

const FIELDS: readonly Field[] = [
  { name: "name", label: "Name", kind: "text", required: true },
  {
    name: "owner",
    label: "Owner",
    kind: "text",
    nullable: true,
    placeholder: "ada@example.com",
    help: "The person whose calls these are. Empty: a service account.",
  },
  { name: "team", label: "Team", kind: "text", nullable: true, help: "Empty: the owner's." },
  { name: "scopes.routes", label: "Routes", kind: "lines", help: "One a line. Empty: all." },
  { name: "scopes.models", label: "Models", kind: "lines", help: "Concrete models, one a line. Empty: all." },
  {
    name: "scopes.mcp",
    label: "Tool servers",
    kind: "lines",
    help: "Servers, or tools as server__tool. Empty: all.",
  },
  { name: "scopes.reports", label: "May read reports", kind: "switch" },
  ...LIMIT_FIELDS,
  {
    name: "expires_at",
    label: "Expires",
    kind: "moment",
    nullable: true,
    placeholder: "2027-01-31",
    help: "A date or an RFC 3339 time. Empty: never.",
  },
];

const scopeText = ({ scopes: { routes, models, mcp } }: KeyView): string =>
  [...(routes ?? []), ...(models ?? []), ...(mcp ?? [])].join(", ");

/** `Keys`: who may call, and what. */
export const KEYS: ResourceFacts<KeyView> = {
  path: "/admin/v1/keys",
  title: "Keys",
  noun: "key",
  idOf: ({ id }) => id,
  nameOf: ({ name }) => name,
  columns: [
    textColumn("name", "Name", { of: ({ name }) => name }),
    textColumn("owner", "Owner", { of: ({ owner }) => owner, none: "service account" }),
    textColumn("team", "Team", { of: ({ team }) => team, none: "the owner's" }),
    textColumn("scopes", "May use", { of: scopeText, none: "everything" }),
    textColumn("secret", "Secret", {
      of: ({ secrets }) => secrets.map(({ last_four: end }) => `…${end}`).join(" "),
      none: "none",
    }),
    textColumn("status", "Status", { of: ({ status }) => status }),
    momentColumn("expires", "Expires", { of: ({ expires_at: at }) => at, none: "It does not expire." }),
  ],
  fields: FIELDS,
  empty: "A key identifies a caller. Add one and give its secret to a person or a service.",
  removal: {
    verb: "Revoke",
    effect: "Calls with it are refused within five seconds. A revoked key does not come back.",
  },
  shown: (answer) => {
    const secret = secretOf(answer);
    return secret && <SecretOnce secret={secret} what="the key" />;
  },
  actions: (key) => <KeyActions path="/admin/v1/keys" id={key.id} />,
  isFixed: ({ status }) => status === "revoked",
};
