import type { WaysIn } from "#shared/admin/ways-in.ts";
import type { OutboundFetch } from "../../upstream/outbound-fetch.ts";
import { type OidcConfig, oidcWayIn } from "./oidc.ts";
import type { WayIn, WayName } from "./way-in.ts";

/** Where people can sign in, each as it is set up now; null: it is not. */
export type Ways = Record<WayName, () => Promise<WayIn | null>>;

export type WaysConfig = { oidc: OidcConfig | null };

export function openWays({ oidc }: WaysConfig, reach: OutboundFetch): Ways {
  const atIssuer = oidc && oidcWayIn(oidc, reach);
  return { oidc: async () => atIssuer };
}

/** As `GET /auth/ways-in` shows them. */
export const waysInView = async ({ oidc }: WaysConfig): Promise<WaysIn> => ({
  github: false,
  oidc: oidc && { name: new URL(oidc.issuer).host },
  saml: null,
  one_time_link: true,
});
