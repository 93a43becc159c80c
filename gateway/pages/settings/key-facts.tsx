import type { KeyView } from "#shared/admin/keys.ts";
import { momentColumn, textColumn } from "./cells.tsx";
import { KEY } from "./forms/people-forms.ts";
import { KeyActions } from "./key-actions.tsx";
import type { ResourceFacts } from "./resource-panel.tsx";
import { SecretOnce, secretOf } from "./secret-once.tsx";

/** An empty list allows nothing; an absent one does not limit. */
const listed = (list: readonly string[] | undefined, none: string): readonly string[] =>
  list?.length === 0 ? [none] : (list ?? []);

export const scopeText = ({ scopes: { routes, models, mcp, providers = [] } }: KeyView): string =>
  [
    ...listed(routes, "no route"),
    ...listed(models, "no concrete model"),
    ...listed(mcp, "no tool"),
    ...providers.map((name) => `/providers/${name}`),
  ].join(", ");

/** `Keys`: who may call, and what. */
export const KEYS: ResourceFacts<KeyView> = {
  path: "/admin/v1/keys",
  title: "Keys",
  noun: "key",
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
  spend: { by: "key", nameOf: ({ id }) => id },
  form: KEY,
  empty: "A key identifies a caller. Add one and give its secret to a person or a service.",
  removal: {
    verb: "Revoke",
    effect: "Calls with it are refused within five seconds. A revoked key cannot be restored.",
  },
  shown: (answer) => {
    const secret = secretOf(answer);
    return secret && <SecretOnce secret={secret} what="the key" />;
  },
  actions: (key) => <KeyActions path="/admin/v1/keys" id={key.id} />,
  isFixed: ({ status }) => status === "revoked",
};
