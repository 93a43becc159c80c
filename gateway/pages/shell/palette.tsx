import { useMantineColorScheme } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import {
  Spotlight,
  type SpotlightActionData,
  type SpotlightActionGroupData,
  spotlight,
} from "@mantine/spotlight";
import { keepPreviousData } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import type { FoundNames } from "#shared/admin/search.ts";
import { queryOf, useJson } from "../data/api.ts";
import { mayAs, type RoleName, useMe } from "../data/me.ts";
import { announce } from "../parts/announce.tsx";
import { plainName } from "../parts/values.tsx";
import { useSignOut } from "./account.tsx";
import { NAVIGATION } from "./navigation.ts";

/** ⌘K: pages, actions, and everything that has a name. Loaded when it is first opened. */
export function Palette({ close }: { close: () => void }) {
  const navigate = useNavigate();
  const { role } = useMe();
  const [text, setText] = useState("");
  const { found, isSearching } = useFound(text);
  const actions = useActions(role);
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
      actions={[{ group: "Pages", actions: pages }, ...found, { group: "Actions", actions }]}
      query={text}
      onQueryChange={setText}
      onSpotlightClose={close}
      nothingFound={isSearching ? "Searching…" : "Nothing found"}
      shortcut={null}
      limit={60}
      scrollable
      maxHeight={420}
      attributes={{ content: { "aria-label": "Find and do" } }}
      searchProps={{
        placeholder: "Pages, people, keys, teams, pull requests, actions",
        "aria-label": "Search",
      }}
    />
  );
}

type Item = FoundNames["data"][number];

/** What each kind is called, and the address of one. */
const KINDS: Record<Item["kind"], readonly [group: string, place: (item: Item, role: RoleName) => string]> = {
  person: [
    "People",
    ({ name, id }, role) =>
      role === "administrator" ? `/settings/people/${id}` : `/overview${queryOf({ subject: name })}`,
  ],
  team: ["Teams", ({ name }) => `/overview${queryOf({ team: name })}`],
  key: ["Keys", ({ id }) => `/settings/keys${queryOf({ edit: `key:${id}` })}`],
  route: ["Routes", ({ name }) => `/settings/routes${queryOf({ edit: `route:${name}` })}`],
  model: ["Models", ({ name }) => `/overview${queryOf({ model: name })}`],
  repository: ["Repositories", ({ name }) => `/pull-requests${queryOf({ repository: name })}`],
  pull_request: ["Pull requests", ({ name }) => `/pull-requests/${name.replace("#", "/")}`],
};

const PAUSE_MS = 150;

/** What the gateway finds by a part of its name, as far as the reader may see it. */
function useFound(text: string): { found: SpotlightActionGroupData[]; isSearching: boolean } {
  const navigate = useNavigate();
  const { role } = useMe();
  const [asked] = useDebouncedValue(text.trim(), PAUSE_MS);
  const { data, isFetching } = useJson<FoundNames>(
    ["search", asked],
    `/admin/v1/search${queryOf({ q: asked })}`,
    {
      enabled: asked !== "",
      placeholderData: keepPreviousData,
    },
  );
  const items = asked === "" ? [] : (data?.data ?? []);
  const found = Object.values(Object.groupBy(items, ({ kind }) => kind)).map((group) => ({
    group: KINDS[group[0]?.kind ?? "person"][0],
    actions: group.map((item) => ({
      id: `${item.kind} ${item.id ?? item.name}`,
      label: plainName(item.name),
      ...(item.detail && { description: plainName(item.detail) }),
      // It was found by what was typed, wherever that is in it.
      keywords: text,
      onClick: () => void navigate({ href: KINDS[item.kind][1](item, role) }),
    })),
  }));
  return { found, isSearching: isFetching || asked !== text.trim() };
}

/** Forms that open by their address. */
const FORMS = [
  ["Add a provider", "/settings/providers", "provider"],
  ["Add a route", "/settings/routes", "route"],
  ["Add a key", "/settings/keys", "key"],
  ["Add a person", "/settings/people", "person"],
  ["Add a team", "/settings/people", "team"],
  ["Make an admin token", "/settings/people", "token"],
  ["Add a guardrail", "/settings/guardrails", "guardrail"],
  ["Enter a price", "/settings/prices", "price"],
] as const;

function useActions(role: RoleName): SpotlightActionData[] {
  const navigate = useNavigate();
  const signOut = useSignOut();
  const { setColorScheme } = useMantineColorScheme();
  const action = (label: string, onClick: () => void, keywords = ""): SpotlightActionData => ({
    id: label,
    label,
    keywords,
    onClick,
  });
  const copied = () =>
    navigator.clipboard.writeText(location.href).then(() => announce("The address was copied."));
  return [
    ...(mayAs(role, "administrator")
      ? FORMS.map(([label, to, add]) =>
          action(label, () => void navigate({ to, search: { add } }), "new create make"),
        )
      : []),
    action("Make a key of my own", () => void navigate({ to: "/me" }), "new create connect agent"),
    action("Copy this page's address", () => void copied(), "share link"),
    action("Use dark colours", () => setColorScheme("dark"), "theme mode"),
    action("Use light colours", () => setColorScheme("light"), "theme mode"),
    action("Sign out", signOut, "leave log"),
  ];
}
