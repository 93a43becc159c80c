import { Button, Kbd } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { Outlet, useLocation } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useState } from "react";
import { Account } from "./account.tsx";
import { Brand } from "./brand.tsx";
import { ColorSchemeSwitch } from "./color-scheme.tsx";
import { MainNavigation } from "./main-navigation.tsx";

const KeyHelp = lazy(() => import("./key-help.tsx").then((it) => ({ default: it.KeyHelp })));
const Palette = lazy(() => import("./palette.tsx").then((it) => ({ default: it.Palette })));

/** Everything around a page: navigation, keyboard, account. */
export function Shell() {
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const [isHelpOpen, setHelpOpen] = useState(false);
  const [isMenuOpen, setMenuOpen] = useState(false);
  const { pathname } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu closes whenever the page changes.
  useEffect(() => setMenuOpen(false), [pathname]);
  useHotkeys([["?", () => setHelpOpen(true), { preventDefault: true }]]);
  useHotkeys([["mod+K", () => setPaletteOpen(true), { preventDefault: true }]], []);
  useHotkeys([["/", focusSearch(() => setPaletteOpen(true))]]);
  return (
    <div className="shell">
      <a className="skip-link" href="#content">
        Skip to the content
      </a>
      <div className="topbar no-print">
        <Brand />
        <Button size="compact-sm" variant="default" onClick={() => setPaletteOpen(true)}>
          Search
        </Button>
        <Button
          size="compact-sm"
          variant="default"
          aria-expanded={isMenuOpen}
          aria-controls="sidebar"
          onClick={() => setMenuOpen((isOpen) => !isOpen)}
        >
          Menu
        </Button>
      </div>
      <div className="sidebar no-print" id="sidebar" data-open={isMenuOpen}>
        <Brand />
        <SearchButton open={() => setPaletteOpen(true)} />
        <MainNavigation />
        <div className="sidebar-foot">
          <Account showKeys={() => setHelpOpen(true)} />
          <ColorSchemeSwitch />
        </div>
      </div>
      <main className="content" id="content" tabIndex={-1}>
        <Outlet />
      </main>
      <Suspense>
        {isHelpOpen && <KeyHelp close={() => setHelpOpen(false)} />}
        {isPaletteOpen && <Palette close={() => setPaletteOpen(false)} />}
      </Suspense>
    </div>
  );
}

const SearchButton = ({ open }: { open: () => void }) => (
  <Button
    variant="default"
    size="xs"
    fullWidth
    justify="space-between"
    mb="sm"
    flex="none"
    onClick={open}
    rightSection={<Kbd size="xs">{navigator.platform.startsWith("Mac") ? "⌘ K" : "Ctrl K"}</Kbd>}
  >
    Search
  </Button>
);

/** `/` goes to the page's own search if it has one, else to the palette. */
const focusSearch = (open: () => void) => () => {
  const field = document.querySelector<HTMLInputElement>("main [data-search]");
  if (field) field.focus();
  else open();
};
