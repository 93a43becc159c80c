import type { Database } from "#drizzle/database.ts";
import type { WaysIn } from "#shared/admin/ways-in.ts";
import type { Log } from "#shared/log.ts";
import { once } from "#shared/once.ts";
import type { Settings } from "#shared/settings.ts";
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
  /** Those that are configured and off. */
  off(): Promise<WaysIn["off"]>;
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
  directory: { current(): { settings: Pick<Settings, "sign_in"> } };
  log: Log;
};

/** Each way in is loaded with its first use, because its libraries are large. */
export function openWays({ oidc, saml, github }: WaysConfig, deps: WaysDeps): Ways {
  const { database, reach, appKey, publicUrl } = deps;
  const off = waysOff({ oidc, github }, deps);
  const isOff = async (way: WayName) => (await off()).some((it) => it.way === way);
  const atIssuer = once(async () => oidc && (await import("./oidc.ts")).oidcWayIn(oidc, reach));
  const bySaml = once(async () => saml && (await import("./saml.ts")).samlWayIn(saml, deps));
  const members = { reach, installedAccounts: () => installedAccounts(database) };
  return {
    oidc: async () => ((await isOff("oidc")) ? null : await atIssuer()),
    saml: bySaml,
    github: async () => {
      if (publicUrl === null || (await isOff("github"))) return null;
      const client = github.client ?? (await registeredGithubClient(database, appKey));
      if (client === null) return null;
      return (await import("./github.ts")).githubWayIn({ ...github, client }, members);
    },
    off,
  };
}

/** Issuers at which anyone can have an account, by host, and Microsoft's by path. */
const PUBLIC_HOSTS = [
  ...["accounts.google.com", "appleid.apple.com", "gitlab.com", "www.facebook.com", "www.linkedin.com"],
  ...["api.login.yahoo.com", "access.line.me", "id.twitch.tv", "discord.com", "slack.com"],
];
const PUBLIC_TENANTS = /^\/(common|organizations|consumers|9188040d-6c67-4c5b-b112-36a304b66dad)(\/|$)/i;

function isPublicIssuer(issuer: string): boolean {
  const { hostname, pathname } = new URL(issuer);
  if (hostname === "login.microsoftonline.com") return PUBLIC_TENANTS.test(pathname);
  return PUBLIC_HOSTS.includes(hostname);
}

const ANYONE =
  "anyone can have an account there. Set sign_in.allowed_domains or sign_in.required_groups in the settings.";
const NO_ORGANISATION = "no organisation has installed the GitHub App, so membership cannot be checked.";

/** What is off, and why; the log gets each change of it. */
function waysOff(
  { oidc, github }: Pick<WaysConfig, "oidc" | "github">,
  { database, directory, log }: WaysDeps,
): Ways["off"] {
  let said = "";
  return async () => {
    const off: WaysIn["off"] = [];
    const isLimited = Object.keys(directory.current().settings.sign_in ?? {}).length > 0;
    if (oidc && !isLimited && isPublicIssuer(oidc.issuer)) {
      off.push({ way: "oidc", reason: `Sign-in at ${new URL(oidc.issuer).host} is off: ${ANYONE}` });
    }
    const isOnGithub = github.client !== null && new URL(github.webUrl).host === "github.com";
    if (isOnGithub && (await installedAccounts(database)).size === 0) {
      off.push({ way: "github", reason: `Sign-in with GitHub is off: ${NO_ORGANISATION}` });
    }
    const text = JSON.stringify(off);
    if (text !== said) for (const it of off) log.warn(it, "a way to sign in is off");
    said = text;
    return off;
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
  oidc: oidc && (await ways.oidc()) && { name: new URL(oidc.issuer).host },
  saml: saml && { name: new URL(saml.entryPoint).host },
  off: await ways.off(),
  one_time_link: true,
});
