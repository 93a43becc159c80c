import { Link } from "@tanstack/react-router";
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

/** Pages below others of the navigation: the one above is not shown as current with them. */
const isAbove = (path: string): boolean =>
  NAVIGATION.some(({ pages }) => pages.some((page) => page.path.startsWith(`${path}/`)));

const NavigationLink = ({ name, path }: NavigationPage) => (
  <Link to={path} activeOptions={{ exact: isAbove(path), includeSearch: false }} preload="intent">
    {name}
  </Link>
);
