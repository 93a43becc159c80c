import type { Page } from "#shared/admin/fields.ts";
import type { GithubAppView } from "#shared/admin/github-app.ts";
import type { KeyView } from "#shared/admin/keys.ts";
import type { ProviderView } from "#shared/admin/providers.ts";
import type { PullRequestView } from "#shared/admin/pull-requests.ts";
import type { RouteView } from "#shared/admin/routes.ts";
import type { Settings } from "#shared/settings.ts";
import { getJson } from "../data/api.ts";
import { hasCalls } from "../data/records.ts";

/** What is set up, asked together. */
export type SetUp = {
  providers: readonly ProviderView[];
  /** Those that answer with a vendor's models; the built-in one is there from the start. */
  vendors: readonly ProviderView[];
  hasRoute: boolean;
  hasKey: boolean;
  hasCall: boolean;
  app: GithubAppView;
  isJoining: boolean;
  hasStamped: boolean;
  hasJoined: boolean;
};

const POLL_MS = 3000;

const isVendors = ({ kind, enabled, credential_source: source }: ProviderView): boolean =>
  kind !== "echo" && enabled && (source !== "none" || kind.endsWith("-compatible"));

const rowsOf = async <T>(path: string): Promise<T[]> => (await getJson<Page<T>>(`/admin/v1/${path}`)).data;

export const SET_UP = {
  queryKey: ["set-up"],
  queryFn: async (): Promise<SetUp> => {
    const [providers, routes, keys, hasCall, app, settings, stamped, joined] = await Promise.all([
      rowsOf<ProviderView>("providers?limit=500"),
      rowsOf<RouteView>("routes?limit=500"),
      rowsOf<KeyView>("keys?limit=500"),
      hasCalls(),
      getJson<GithubAppView>("/admin/v1/github-app"),
      getJson<Settings>("/admin/v1/settings"),
      rowsOf<PullRequestView>("pull-requests?limit=100"),
      rowsOf<PullRequestView>("pull-requests?link=joined&limit=1"),
    ]);
    return {
      providers,
      vendors: providers.filter(isVendors),
      hasRoute: routes.some(({ provider }) => provider !== "echo"),
      hasKey: keys.some(({ owner }) => owner !== null),
      hasCall,
      app,
      isJoining: settings.pull_request_stamping,
      hasStamped: stamped.some(({ session }) => session !== null) || app.waiting_merges.length > 0,
      hasJoined: joined.length > 0,
    };
  },
  refetchInterval: POLL_MS,
} as const;
