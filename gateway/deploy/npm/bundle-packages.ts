/** The packages inside ours: what npm would install otherwise has other versions than we test, without our patches. */
import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** What a start does not load: types, sources of what is built, packages' own tests and docs, other builds. Licences stay. */
const UNUSED =
  /\.(map|[cm]?ts|coffee)$|\/(readme|changelog|history)\.md$|\/\.bun-tag-|\/(tests?|__tests__|docs|benchmarks|examples|coverage)$|\/xml2js\.bc\.js$|\/swagger-ui(-es-bundle.*)?\.js$/i;

type Packages = Readonly<Record<string, string>>;
type Manifest = { dependencies?: Packages };

/**
 * Copies installed packages, and all that they depend on, from the checkout `root` to the same places below `out`. What a
 * package can do without (its optional dependencies and peers), and what `replaced` names, is left out of its manifest,
 * so that npm does not fetch it.
 * @throws Error if one of them is not installed.
 */
export function bundlePackages(
  names: readonly string[],
  places: { root: string; out: string; replaced: Packages },
): void {
  const { root, out, replaced } = places;
  const copied = new Set<string>();
  for (const name of names) copy(find(name, root));

  function find(name: string, from: string): string {
    for (let directory = from; directory.startsWith(root); directory = dirname(directory)) {
      const path = join(directory, "node_modules", name);
      if (existsSync(join(path, "package.json"))) return path;
    }
    throw new Error(`${name} is not installed for ${relative(root, from)}.`);
  }

  function copy(path: string): void {
    if (copied.has(path)) return;
    copied.add(path);
    const target = join(out, relative(root, path));
    const isWanted = (file: string) =>
      !UNUSED.test(file) && !file.slice(path.length).includes("/node_modules");
    cpSync(path, target, { recursive: true, dereference: true, filter: isWanted });
    const { manifest, needed } = readManifest(join(path, "package.json"));
    writeFileSync(join(target, "package.json"), JSON.stringify(manifest));
    for (const name of needed) copy(find(name, path));
  }

  function readManifest(file: string): { manifest: object; needed: string[] } {
    // An installed package's package.json is one.
    const whole: Manifest & Record<string, unknown> = JSON.parse(readFileSync(file, "utf8"));
    // npm would hold their Node against the user's, and they run on the Bun that ours brings.
    const {
      optionalDependencies,
      engines: _,
      peerDependencies: __,
      peerDependenciesMeta: ___,
      ...manifest
    } = whole;
    const left = new Set([...Object.keys(Object(optionalDependencies)), ...Object.keys(replaced)]);
    const dependencies = Object.fromEntries(
      Object.entries(manifest.dependencies ?? {}).filter(([name]) => !left.has(name)),
    );
    return { manifest: { ...manifest, dependencies }, needed: Object.keys(dependencies) };
  }
}
