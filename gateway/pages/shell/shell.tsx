import { Button, Kbd } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { Link, Outlet, useLocation, useMatches, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { mayAs, useMe } from "../data/me.ts";
import { Announcements } from "../parts/announce.tsx";
import { Brand } from "../parts/brand.tsx";
import { Account, ColorSchemeSwitch } from "./account.tsx";
import { addressFaults } from "./address-faults.ts";
import { NAVIGATION, type NavigationPage, pageAt } from "./navigation.ts";
import { CannotAsk, Denied } from "./no-page.tsx";
import { Unreachable } from "./unreachable.tsx";

const KeyHelp = lazy(() => import("./key-help.tsx").then((it) => ({ default: it.KeyHelp })));
const Palette = lazy(() => import("./palette.tsx").then((it) => ({ default: it.Palette })));

/** Everything around a page: navigation, keyboard, account. */
export function Shell() {
  const [isPaletteOpen, setPaletteOpen] = useAbove();
  const [isHelpOpen, setHelpOpen] = useAbove();
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
        <Button size="compact-sm" onClick={() => setPaletteOpen(true)}>
          Search
        </Button>
        <Button
          size="compact-sm"
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
        <Unreachable />
        <Page />
      </main>
      <Announcements />
      <Suspense>
        {isHelpOpen && <KeyHelp close={() => setHelpOpen(false)} />}
        {isPaletteOpen && <Palette close={() => setPaletteOpen(false)} />}
      </Suspense>
    </div>
  );
}

/** Whether something is open above the page. Once it is closed, focus is back where it was. */
function useAbove(): [isOpen: boolean, set: (isOpen: boolean) => void] {
  const [isOpen, setOpen] = useState(false);
  const from = useRef<Element>(null);
  useEffect(() => {
    if (isOpen || !from.current) return;
    // An entry of a menu is gone with the menu.
    const place = from.current.isConnected ? from.current : document.getElementById("content");
    if (place instanceof HTMLElement) place.focus();
  }, [isOpen]);
  const set = (is: boolean) => {
    if (is && !isOpen) from.current = document.activeElement;
    setOpen(is);
  };
  return [isOpen, set];
}

/** The page, if the reader's role has it and its address can be asked. */
function Page() {
  const { role } = useMe();
  const { pathname } = useLocation();
  const raw: Record<string, unknown> = useSearch({ strict: false });
  const { parameters } = useMatches({ select: (matches) => matches.at(-1)?.staticData }) ?? {};
  const page = { name: "Tallygate", role: "member" as const, ...pageAt(pathname) };
  if (!mayAs(role, page.role)) return <Denied {...page} />;
  const faults = parameters ? addressFaults(raw, parameters) : [];
  return faults.length > 0 ? <CannotAsk title={page.name} faults={faults} /> : <Outlet />;
}

const SearchButton = ({ open }: { open: () => void }) => (
  <Button
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

function MainNavigation() {
  const { role } = useMe();
  const groups = NAVIGATION.map(({ title, pages }) => ({
    title,
    pages: pages.filter((page) => mayAs(role, page.role)),
  })).filter(({ pages }) => pages.length > 0);
  return (
    <nav aria-label="Main">
      {groups.map(({ title, pages }) => (
        <div key={title}>
          {title && <div className="nav-group">{title}</div>}
          <ul>
            {pages.map((page) => (
              <li key={page.path}>
                <NavigationLink {...page} />
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

/** Pages below others of the navigation: the one above is not shown as current with them. */
const isAbove = (path: string): boolean =>
  NAVIGATION.some(({ pages }) => pages.some((page) => page.path.startsWith(`${path}/`)));

const NavigationLink = ({ name, path }: NavigationPage) => (
  <Link to={path} activeOptions={{ exact: isAbove(path), includeSearch: false }} preload="intent">
    {name}
  </Link>
);
