import { Spotlight, type SpotlightActionData, spotlight } from "@mantine/spotlight";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { mayAs, useMe } from "../data/me.ts";
import { useFound } from "./found.ts";
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
      nothingFound="Nothing of this name"
      shortcut={null}
      limit={12}
      scrollable
      maxHeight={420}
      searchProps={{ placeholder: "Pages, people, models, pull requests", "aria-label": "Search" }}
    />
  );
}
