import { neededPermissions } from "#shared/github-permissions.ts";
import type { Settings } from "#shared/settings.ts";
import { NEEDED_EVENTS } from "../github/registration.ts";

export type ManifestInput = {
  settings: Settings;
  /** The App's name, which must be unique on GitHub. */
  name: string;
  /** The URL at which GitHub reaches this server, without a trailing slash. */
  url: string;
  webhookPath: string;
  /** The URL at which the administrator's browser reaches this server. */
  pageUrl: string;
  /** The URL at which people reach the gateway; null: none was set, so no one can sign in with GitHub. */
  publicUrl: string | null;
};

/** The App to register: with the permissions that the settings need, and no others. */
export const manifestOf = ({ settings, name, url, webhookPath, pageUrl, publicUrl }: ManifestInput) => ({
  name,
  url,
  hook_attributes: { url: `${url}${webhookPath}`, active: true },
  redirect_url: `${pageUrl}/setup/created`,
  setup_url: `${pageUrl}/setup/installed`,
  setup_on_update: true,
  ...(publicUrl !== null && { callback_urls: [`${publicUrl}/auth/callback/github`] }),
  public: false,
  default_events: NEEDED_EVENTS,
  default_permissions: neededPermissions(settings),
});

const ORGANIZATION = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})$/;

export type SetupForm = { organization: string | null; url: string };

/** The completed form, or what is wrong with it. */
export function readSetupForm(query: URLSearchParams): SetupForm | string {
  const organization = query.get("organization")?.trim() ?? "";
  if (organization !== "" && !ORGANIZATION.test(organization))
    return "This is not the name of an organisation.";
  const url = URL.parse(query.get("url")?.trim() ?? "");
  if (!url || !/^https?:$/.test(url.protocol) || url.search + url.hash + url.username !== "") {
    return "The address must be an http or https URL, for example https://tallygate.example.com.";
  }
  return {
    organization: organization === "" ? null : organization,
    url: `${url.origin}${url.pathname}`.replace(/\/+$/, ""),
  };
}

/** The page on GitHub that accepts a manifest. */
export const registrationUrl = (webUrl: string, organization: string | null, state: string): string => {
  const place = organization === null ? "" : `/organizations/${organization}`;
  return `${webUrl}${place}/settings/apps/new?state=${encodeURIComponent(state)}`;
};
