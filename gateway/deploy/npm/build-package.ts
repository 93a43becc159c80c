/**
 * `bun gateway/deploy/npm/build-package.ts OUT`: writes the npm package `tallygate` into the new directory OUT, ready for
 * `npm pack`. It has the sources that a start needs, the built console, and the packages of the lock file: npm installs only Bun and
 * Postgres beside it, which differ by system.
 */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildPages } from "../../cli/pages/build-pages.ts";
import { bundlePackages } from "./bundle-packages.ts";

const ROOT = join(import.meta.dir, "../../..");
const BUN_DEPENDENCY = "bun";
const FOLDERS = ["gateway", "github-app", "shared", "drizzle"];
const LEFT_OUT = /\/gateway\/(pages|deploy)\/|\/shared\/decisions(\/|$)|\/drizzle\/patches(\/|$)/;
/** Of those, what the docs show. */
const SHOWN = /\/gateway\/(pages|deploy)\/(README\.md|pictures|pictures\/readme-[^/]+\.png)$/;
const PAGES = ["README.md", "LICENSE", "CHANGELOG.md", ".github/SECURITY.md"];

type Packages = Readonly<Record<string, string>>;
type Manifest = {
  version: string;
  description: string;
  license: string;
  engines: { bun: string };
  imports: Packages;
  dependencies: Packages;
  optionalDependencies: Packages;
  overrides: Packages;
};

const out = process.argv[2];
if (out === undefined) {
  process.stderr.write("Usage: bun gateway/deploy/npm/build-package.ts OUT\n");
  process.exit(2);
}

// package.json is ours, and has these members.
const manifest: Manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
mkdirSync(join(out, "bin"), { recursive: true });
for (const folder of FOLDERS) {
  cpSync(join(ROOT, folder), join(out, folder), {
    recursive: true,
    filter: (path) => !LEFT_OUT.test(path.slice(ROOT.length)) || SHOWN.test(path),
  });
}
for (const name of PAGES) cpSync(join(ROOT, name), join(out, name));
cpSync(join(import.meta.dir, "tallygate.mjs"), join(out, "bin/tallygate.mjs"));
await buildPages(ROOT, join(out, "gateway/pages-built"));
const bundled = dependencies();
bundlePackages(Object.keys(bundled), { root: ROOT, out, replaced: manifest.overrides });
writeFileSync(join(out, "package.json"), `${JSON.stringify(packaged(), null, 2)}\n`);

/** What our sources do not name is for the pages, which are built. */
function dependencies(): Packages {
  const sources = [...new Bun.Glob(`{${FOLDERS}}/**/*.ts`).scanSync(out ?? "")].map((file) =>
    readFileSync(join(out ?? "", file), "utf8"),
  );
  const isNamed = (name: string) =>
    sources.some((text) => text.includes(`"${name}"`) || text.includes(`"${name}/`));
  return Object.fromEntries(Object.entries(manifest.dependencies).filter(([name]) => isNamed(name)));
}

function packaged(): object {
  const { version, description, license, engines, imports, optionalDependencies } = manifest;
  return {
    name: "tallygate",
    version,
    description,
    license,
    type: "module",
    engines: { node: ">=20" },
    bin: { tallygate: "bin/tallygate.mjs" },
    files: ["bin", ...FOLDERS, ...PAGES],
    imports,
    dependencies: { ...bundled, [BUN_DEPENDENCY]: engines.bun },
    optionalDependencies,
    bundleDependencies: Object.keys(bundled),
  };
}
