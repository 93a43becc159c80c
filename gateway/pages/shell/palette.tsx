import {
  Spotlight,
  type SpotlightActionData,
  type SpotlightActionGroupData,
  spotlight,
} from "@mantine/spotlight";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import type { DimensionName, Spec } from "#shared/report.ts";
import { mayAs, useMe } from "../data/me.ts";
import { useReports } from "../data/reports.ts";
import { plainName } from "../parts/foreign.tsx";
import { NAVIGATION } from "./navigation.ts";

/** ⌘K: pages, people, pull requests, models and actions. Loaded when it is first opened. */
export function Palette({ close }: { close: () => void }) {
  const navigate = useNavigate();
  const { role } = useMe();
  const [text, setText] = useState("");
  const found = useFound(text);
  // It appears once it is mounted, so that its first opening is animated and focused like every other.
  useEffect(() => spotlight.open(), []);
  const pages: SpotlightActionData[] = NAVIGATION.flatMap(({ pages }) => pages)
    .filter((page) => mayAs(role, page.role))
    .map(({ name, path, words = "" }) => ({
      id: path,
      label: name,
      keywords: words,
      onClick: () => void navigate({ to: path }),
    }));
  return (
    <Spotlight
      actions={[{ group: "Pages", actions: pages }, ...found]}
      query={text}
      onQueryChange={setText}
      onSpotlightClose={close}
      nothingFound="Nothing found"
      shortcut={null}
      limit={12}
      scrollable
      maxHeight={420}
      searchProps={{ placeholder: "Pages, people, models, pull requests", "aria-label": "Search" }}
    />
  );
}

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

/** People and models of the last 30 days, and `owner/repo#7` as a pull request. */
function useFound(text: string): SpotlightActionGroupData[] {
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
