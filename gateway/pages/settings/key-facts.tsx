import type { KeyView } from "#shared/admin/keys.ts";
import { moment, text } from "../parts/columns.tsx";
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
  columns: {
    name: text("Name", ({ name }) => name),
    owner: text("Owner", ({ owner }) => owner, "service account"),
    team: text("Team", ({ team }) => team, "the owner's"),
    scopes: text("May use", scopeText, "everything"),
    secret: text("Secret", ({ secrets }) => secrets.map(({ last_four: end }) => `…${end}`).join(" "), "none"),
    status: text("Status", ({ status }) => status),
    expires: moment("Expires", ({ expires_at: at }) => at, "It does not expire."),
  },
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
