import { Link, useLocation } from "@tanstack/react-router";
import { mayAs, useMe } from "../data/me.ts";
import { NAVIGATION, type NavigationPage } from "./navigation.ts";

/** Links to all pages that the person's role has. */
export function MainNavigation() {
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

function NavigationLink({ name, path }: NavigationPage) {
  const { pathname } = useLocation();
  const isHere = pathname === path || pathname.startsWith(`${path}/`);
  return (
    <Link to={path} aria-current={isHere ? "page" : undefined} preload="intent">
      {name}
    </Link>
  );
}
