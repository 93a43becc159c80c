import type { SpotlightActionGroupData } from "@mantine/spotlight";
import { useNavigate } from "@tanstack/react-router";
import type { DimensionName, Spec } from "#shared/report.ts";
import { mayAs, useMe } from "../data/me.ts";
import { useReports } from "../data/reports.ts";
import { plainName } from "../parts/foreign.tsx";

const PER_GROUP_MAX = 50;

const names = (dimension: DimensionName, source: Spec["source"] = "requests"): Spec => ({
  source,
  dimensions: [dimension],
  measures: [source === "outcomes" ? "merged_prs" : "cost_usd"],
  filters: {},
  range: "30d",
  compare: "none",
  view: "table",
});

const NAMED = {
  People: names("subject"),
  Models: names("model"),
  Repositories: names("repository", "outcomes"),
} as const;

/** Names of the last 30 days that lead to what they did, and `owner/repo#7` as a pull request. */
export function useFound(text: string): SpotlightActionGroupData[] {
  const navigate = useNavigate();
  const { role } = useMe();
  const { data } = useReports(mayAs(role, "manager") ? NAMED : null);
  const open = (group: keyof typeof NAMED, value: string) =>
    group === "Repositories"
      ? void navigate({ to: "/pull-requests", search: { repository: value } })
      : void navigate({
          to: "/overview",
          search: { [group === "People" ? "subject" : "model"]: [value] },
        });
  // Object.entries forgets which names there are.
  const groups = (Object.keys(NAMED) as (keyof typeof NAMED)[]).map((group) => ({
    group,
    actions: (data?.[group]?.rows ?? [])
      .slice(0, PER_GROUP_MAX)
      .flatMap(({ groups: [value] }) =>
        value === undefined || value === "(none)"
          ? []
          : [{ id: `${group} ${value}`, label: plainName(value), onClick: () => open(group, value) }],
      ),
  }));
  return [...pullRequestIn(text, navigate), ...groups.filter(({ actions }) => actions.length > 0)];
}

function pullRequestIn(text: string, navigate: ReturnType<typeof useNavigate>): SpotlightActionGroupData[] {
  const [, owner, repo, n] = /^([\w.-]+)\/([\w.-]+)#(\d+)$/.exec(text.trim()) ?? [];
  if (!owner || !repo || !n) return [];
  const label = `${owner}/${repo}#${n}`;
  const onClick = () => void navigate({ to: "/pull-requests/$owner/$repo/$n", params: { owner, repo, n } });
  return [{ group: "Pull requests", actions: [{ id: label, label, onClick }] }];
}
