import { useQuery } from "@tanstack/react-query";
import type { Page } from "#shared/admin/fields.ts";
import type { ProviderTestResult } from "#shared/admin/providers.ts";
import { postJson, useJson } from "../../data/api.ts";
import { useSuggestions } from "../../parts/suggestions.ts";

/** Lists whose names a form suggests, and the member that has the name. */
const LISTS = {
  provider: ["/admin/v1/providers", "name"],
  team: ["/admin/v1/teams", "name"],
  person: ["/admin/v1/people", "email"],
  route: ["/admin/v1/routes", "name"],
  guardrail: ["/admin/v1/guardrails", "name"],
  tool_server: ["/admin/v1/mcp-servers", "name"],
  key: ["/admin/v1/keys", "name"],
  repository: ["/admin/v1/repositories", "name"],
} as const;

/** What a field's values are suggested from: a list, a label of the calls of the last 30 days, or the time zones. */
export type SuggestedFrom = keyof typeof LISTS | "model" | "client" | "tag" | "tool" | keyof typeof FIXED;

/** Of Claude Code's documentation of managed settings. */
const CLAUDE_SETTINGS = [
  ...["permissions.allow", "permissions.ask", "permissions.deny", "permissions.defaultMode"],
  ...[
    "permissions.additionalDirectories",
    "permissions.disableBypassPermissionsMode",
    "model",
    "availableModels",
  ],
  ...["env.NAME", "cleanupPeriodDays", "includeCoAuthoredBy", "companyAnnouncements", "disableAllHooks"],
  ...["allowManagedHooksOnly", "forceLoginMethod", "outputStyle", "sandbox.enabled"],
];

const FIXED = {
  time_zone: () => Intl.supportedValuesOf("timeZone"),
  claude_setting: () => CLAUDE_SETTINGS,
} as const;

const isFixed = (from: SuggestedFrom): from is keyof typeof FIXED => Object.hasOwn(FIXED, from);
const isList = (from: SuggestedFrom): from is keyof typeof LISTS => Object.hasOwn(LISTS, from);

/** The models that a provider lists; none where it has no list. */
const modelsOf = (provider: string) => ({
  queryKey: ["models", provider],
  queryFn: async () => {
    const path = `/admin/v1/providers/${encodeURIComponent(provider)}/test`;
    return (await postJson<ProviderTestResult>(path)).models;
  },
  staleTime: Number.POSITIVE_INFINITY,
  retry: false,
});

/** What may be entered; nothing before it is wanted. `provider`: the one that is entered beside a model. */
export function useSuggested(
  from: SuggestedFrom | undefined,
  isWanted: boolean,
  provider: unknown,
): string[] {
  const asked = from === "model" && isWanted && typeof provider === "string" ? provider.trim() : "";
  const { data: models = [] } = useQuery({ ...modelsOf(asked), enabled: asked !== "" });
  const [path, member] = from !== undefined && isList(from) ? LISTS[from] : [null, ""];
  const { data } = useJson<Page<Record<string, unknown>>>(["suggested", path], `${path}?limit=500`, {
    enabled: isWanted && path !== null,
  });
  const isLabel = from !== undefined && !isList(from) && !isFixed(from);
  const used = useSuggestions(from === "tool" ? "tool_calls" : "requests", from ?? "", isWanted && isLabel);
  if (from !== undefined && isFixed(from)) return isWanted ? FIXED[from]() : [];
  const names = data?.data.map((row) => String(row[member])) ?? [];
  return [...new Set(path === null ? [...models, ...used] : names)];
}
