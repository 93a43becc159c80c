import type { Database } from "#drizzle/database.ts";
import type { WaysIn } from "#shared/admin/ways-in.ts";
import { once } from "#shared/once.ts";
import {
  type GithubClient,
  installedAccounts,
  registeredGithubClient,
} from "../../stores/identity/github-client.ts";
import type { OutboundFetch } from "../../upstream/outbound-fetch.ts";
import type { OidcConfig } from "./oidc.ts";
import type { SamlDeps, SamlWayIn } from "./saml.ts";
import type { SamlConfig } from "./saml-answer.ts";
import { type WayIn, type WayName, withoutSlash } from "./way-in.ts";

/** Where people can sign in, each as it is set up now; null: it is not. */
export type Ways = Record<Exclude<WayName, "saml">, () => Promise<WayIn | null>> & {
  saml(): Promise<SamlWayIn | null>;
};

export type WaysConfig = {
  oidc: OidcConfig | null;
  saml: SamlConfig | null;
  /** `client` null: that of the App that the set-up page registers. */
  github: { client: GithubClient | null; apiUrl: string; webUrl: string };
};

export type WaysDeps = SamlDeps & {
  database: Database;
  reach: OutboundFetch;
  /** Opens the credentials of the registered App. */
  appKey: Uint8Array;
  /** Null: no GitHub sign-in, because GitHub must know the return address. */
  publicUrl: string | null;
};

/** Each way in is loaded with its first use, because its libraries are large. */
export function openWays({ oidc, saml, github }: WaysConfig, deps: WaysDeps): Ways {
  const { database, reach, appKey, publicUrl } = deps;
  const atIssuer = once(async () => oidc && (await import("./oidc.ts")).oidcWayIn(oidc, reach));
  const bySaml = once(async () => saml && (await import("./saml.ts")).samlWayIn(saml, deps));
  const members = { reach, installedAccounts: () => installedAccounts(database) };
  return {
    oidc: atIssuer,
    saml: bySaml,
    github: async () => {
      if (publicUrl === null) return null;
      const client = github.client ?? (await registeredGithubClient(database, appKey));
      if (client === null) return null;
      return (await import("./github.ts")).githubWayIn({ ...github, client }, members);
    },
  };
}

/** Who keeps the accounts of each way in; null: it is not configured. */
export const issuersOf = ({ oidc, saml, github }: WaysConfig): Record<WayName, string | null> => ({
  oidc: oidc && withoutSlash(oidc.issuer),
  saml: saml?.issuer ?? null,
  github: new URL(github.webUrl).host,
});

/** As `GET /auth/ways-in` shows them. */
export const waysInView = async ({ oidc, saml }: WaysConfig, ways: Ways): Promise<WaysIn> => ({
  github: (await ways.github()) !== null,
  oidc: oidc && { name: new URL(oidc.issuer).host },
  saml: saml && { name: new URL(saml.entryPoint).host },
  one_time_link: true,
});
