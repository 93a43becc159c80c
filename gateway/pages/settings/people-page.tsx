import type { RoleMappingView } from "#shared/admin/role-mappings.ts";
import type { TokenView } from "#shared/admin/tokens.ts";
import { moment, text } from "../parts/columns.tsx";
import { PageHead } from "../parts/page.tsx";
import { PEOPLE, TEAMS } from "./callers.tsx";
import { ROLE_MAPPING, TOKEN } from "./forms/people-forms.ts";
import { type ResourceFacts, ResourcePanel } from "./resource-panel.tsx";
import { SecretOnce, secretOf } from "./secret-once.tsx";

const TOKENS: ResourceFacts<TokenView> = {
  path: "/admin/v1/tokens",
  title: "Admin tokens",
  noun: "token",
  sub: "Credentials for automation, each with a name of its own in the audit log.",
  columns: {
    name: text("Name", ({ name }) => name),
    role: text("May", ({ role, scopes }) => role ?? scopes?.join(", ") ?? ""),
    team: text("Team", ({ team }) => team, "no limit by team"),
    maker: text("Made by", ({ maker }) => maker, "not known"),
    secret: text("Secret", ({ last_four: end }) => `…${end}`),
    expires: moment("Ends", ({ expires_at: at }) => at),
  },
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
  columns: {
    group: text("Group", ({ group }) => group),
    role: text("Role", ({ role }) => role),
    team: text("Team", ({ team }) => team, "no team"),
  },
  form: ROLE_MAPPING,
  empty: "Without a mapping, people who sign in become members.",
  removal: { verb: "Delete", effect: "Its people lose the role and team that it gave them." },
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
