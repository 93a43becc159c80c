import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { PersonView } from "#shared/admin/people.ts";
import type { RoleMappingView } from "#shared/admin/role-mappings.ts";
import type { SignInLink } from "#shared/admin/sign-in-links.ts";
import type { TokenView } from "#shared/admin/tokens.ts";
import { sendJson } from "../data/api.ts";
import { PageHead } from "../parts/page-head.tsx";
import { Fault } from "../parts/states.tsx";
import { momentColumn, textColumn } from "./cells.tsx";
import { PERSON, ROLE_MAPPING, TOKEN } from "./forms/people-forms.ts";
import { type ResourceFacts, ResourcePanel } from "./resource-panel.tsx";
import { SecretOnce, secretOf } from "./secret-once.tsx";
import { TEAMS } from "./team-facts.tsx";

const PEOPLE: ResourceFacts<PersonView> = {
  path: "/admin/v1/people",
  title: "People",
  noun: "person",
  idOf: ({ id }) => id,
  nameOf: ({ email }) => email,
  columns: [
    textColumn("email", "E-mail", { of: ({ email }) => email }),
    textColumn("name", "Name", { of: ({ name }) => name }),
    textColumn("role", "Role", { of: ({ role }) => role }),
    textColumn("team", "Team", { of: ({ team }) => team, none: "no team" }),
    textColumn("github", "GitHub", { of: ({ github_login: login }) => login, none: "not linked" }),
    textColumn("state", "State", { of: ({ disabled }) => (disabled ? "disabled" : "active") }),
  ],
  form: PERSON,
  empty: "People appear at their first sign-in, or when you add them.",
  removal: {
    verb: "Disable",
    effect: "Their sessions and keys end within five seconds, everywhere. Their records stay.",
  },
  actions: ({ email }) => <SignInLinkButton email={email} />,
  isFixed: ({ disabled }) => disabled,
};

const TOKENS: ResourceFacts<TokenView> = {
  path: "/admin/v1/tokens",
  title: "Admin tokens",
  noun: "token",
  sub: "Credentials for automation, each with a name of its own in the audit log.",
  idOf: ({ id }) => id,
  nameOf: ({ name }) => name,
  columns: [
    textColumn("name", "Name", { of: ({ name }) => name }),
    textColumn("role", "May", { of: ({ role, scopes }) => role ?? scopes?.join(", ") ?? "" }),
    textColumn("team", "Team", { of: ({ team }) => team, none: "no limit by team" }),
    textColumn("maker", "Made by", { of: ({ maker }) => maker, none: "not known" }),
    textColumn("secret", "Secret", { of: ({ last_four: end }) => `…${end}` }),
    momentColumn("expires", "Ends", { of: ({ expires_at: at }) => at, none: "" }),
  ],
  form: TOKEN,
  empty: "A token lets a script use the admin API without the admin key.",
  removal: { verb: "Revoke", effect: "Requests with it are refused immediately." },
  shown: (answer) => {
    const secret = secretOf(answer);
    return secret && <SecretOnce secret={secret} what="the token" />;
  },
};

const MAPPINGS: ResourceFacts<RoleMappingView> = {
  path: "/admin/v1/role-mappings",
  title: "Role mappings",
  noun: "role mapping",
  sub: "The role and team of people who sign in by single sign-on, by their group.",
  idOf: ({ group }) => group,
  nameOf: ({ group }) => group,
  columns: [
    textColumn("group", "Group", { of: ({ group }) => group }),
    textColumn("role", "Role", { of: ({ role }) => role }),
    textColumn("team", "Team", { of: ({ team }) => team, none: "no team" }),
  ],
  form: ROLE_MAPPING,
  empty: "Without a mapping, people who sign in become members.",
  removal: { verb: "Delete", effect: "People keep their role until their next sign-in." },
};

/** Who may sign in, as what, and who is accounted together. */
export const PeoplePage = () => (
  <>
    <PageHead title="People and teams" />
    <ResourcePanel facts={PEOPLE} />
    <ResourcePanel facts={TEAMS} />
    <ResourcePanel facts={TOKENS} />
    <ResourcePanel facts={MAPPINGS} />
  </>
);

/** A link that signs a person in once, for people without another way to sign in. */
function SignInLinkButton({ email }: { email: string }) {
  const link = useMutation({
    mutationFn: () => sendJson<SignInLink>("/admin/v1/sign-in-links", { method: "POST", body: { email } }),
  });
  if (link.data) return <SecretOnce secret={link.data.url} what="the link, which is valid for 15 minutes," />;
  return (
    <div className="note">
      {link.error && <Fault error={link.error} />}
      <Button size="compact-sm" variant="default" loading={link.isPending} onClick={() => link.mutate()}>
        Make a sign-in link
      </Button>
    </div>
  );
}
