import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { KeyView } from "#shared/admin/keys.ts";
import type { PersonView } from "#shared/admin/people.ts";
import type { SignInLink } from "#shared/admin/sign-in-links.ts";
import type { TeamView } from "#shared/admin/teams.ts";
import { postJson } from "../data/api.ts";
import { Act } from "../parts/act.tsx";
import { moment, text } from "../parts/columns.tsx";
import { KEY, PERSON, TEAM } from "./forms/people-forms.ts";
import type { ResourceFacts } from "./resource-panel.tsx";
import { KeyActions, SecretOnce, secretOf } from "./secret-once.tsx";

export const PEOPLE: ResourceFacts<PersonView> = {
  path: "/admin/v1/people",
  title: "People",
  noun: "person",
  nameOf: ({ email }) => email,
  columns: {
    email: text("E-mail", ({ email }) => email),
    name: text("Name", ({ name }) => name),
    role: text("Role", ({ role }) => role),
    team: text("Team", ({ team }) => team, "no team"),
    github: text("GitHub", ({ github_login: login }) => login, "not linked"),
    state: text("State", ({ disabled }) => (disabled ? "disabled" : "active")),
  },
  spend: { by: "person", nameOf: ({ email }) => email.toLowerCase() },
  form: PERSON,
  empty: "People appear at their first sign-in, or when you add them.",
  removal: {
    verb: "Disable",
    effect: "Their sessions and keys end within five seconds, everywhere. Their records stay.",
  },
  actions: ({ id, email }) => (
    <>
      <div className="note">
        <Link to="/settings/people/$id" params={{ id }}>
          Linked accounts, budgets and keys
        </Link>
      </div>
      <SignInLinkButton email={email} />
    </>
  ),
  isFixed: ({ disabled }) => disabled,
};

/** A link that signs a person in once, for people without another way to sign in. */
function SignInLinkButton({ email }: { email: string }) {
  const link = useMutation({ mutationFn: () => postJson<SignInLink>("/admin/v1/sign-in-links", { email }) });
  if (link.data) return <SecretOnce secret={link.data.url} what="the link, which is valid for 15 minutes," />;
  return (
    <div className="note">
      <Act act={() => link.mutateAsync()}>Make a sign-in link</Act>
    </div>
  );
}

/** Teams: who is accounted together. */
export const TEAMS: ResourceFacts<TeamView> = {
  path: "/admin/v1/teams",
  title: "Teams",
  noun: "team",
  columns: {
    name: text("Name", ({ name }) => name),
    parent: text("Below", ({ parent }) => parent, "no team"),
    cost_center: text("Cost centre", ({ cost_center: center }) => center, "as above"),
  },
  spend: { by: "team", nameOf: ({ name }) => name },
  form: TEAM,
  empty: "A team groups keys and people in reports and budgets.",
  removal: { verb: "Delete", effect: "Refused while teams or keys belong to it. Records keep its name." },
};

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
    team: text("Team", ({ team, owner }) => team ?? (owner ? null : "no team"), "the owner's"),
    scopes: text("May use", scopeText, "everything"),
    secret: text("Secret", ({ secrets }) => secrets.map(({ last_four: end }) => `…${end}`).join(" "), "none"),
    status: text("Status", ({ status }) => status),
    expires: moment("Expires", ({ expires_at: at }) => at, "never"),
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
