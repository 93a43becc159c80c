import type { Database } from "#drizzle/database.ts";
import type { WaysIn } from "#shared/admin/ways-in.ts";
import {
  type GithubClient,
  installedAccounts,
  registeredGithubClient,
} from "../../stores/identity/github-client.ts";
import type { OutboundFetch } from "../../upstream/outbound-fetch.ts";
import { githubWayIn } from "./github.ts";
import { type OidcConfig, oidcWayIn } from "./oidc.ts";
import { type SamlConfig, type SamlDeps, type SamlWayIn, samlWayIn } from "./saml.ts";
import type { WayIn, WayName } from "./way-in.ts";

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
  /** Null: nobody can come back from GitHub, because it must know the address. */
  publicUrl: string | null;
};

export function openWays({ oidc, saml, github }: WaysConfig, deps: WaysDeps): Ways {
  const { database, reach, appKey, publicUrl } = deps;
  const atIssuer = oidc && oidcWayIn(oidc, reach);
  const bySaml = saml && samlWayIn(saml, deps);
  const members = { reach, installedAccounts: () => installedAccounts(database) };
  return {
    oidc: async () => atIssuer,
    saml: async () => bySaml,
    github: async () => {
      if (publicUrl === null) return null;
      const client = github.client ?? (await registeredGithubClient(database, appKey));
      return client && githubWayIn({ ...github, client }, members);
    },
  };
}

/** As `GET /auth/ways-in` shows them. */
export const waysInView = async ({ oidc, saml }: WaysConfig, ways: Ways): Promise<WaysIn> => ({
  github: (await ways.github()) !== null,
  oidc: oidc && { name: new URL(oidc.issuer).host },
  saml: saml && { name: new URL(saml.entryPoint).host },
  one_time_link: true,
});
