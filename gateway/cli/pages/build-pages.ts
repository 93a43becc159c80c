import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { errorFields, type Log } from "#shared/log.ts";
import { arePagesPackaged, pagesDirectories } from "../own-program.ts";

const ROOT = join(import.meta.dir, "../../..");

/** What the bundle is made of, below the root of the checkout. */
const SOURCES = ["gateway/pages", "shared"].map(
  (folder) => new Bun.Glob(`${folder}/**/*.{ts,tsx,css,html,svg}`),
);
const ENTRY = "gateway/pages/index.html";
const ASSET = "assets/[name]-[hash].[ext]";
/** Written last: it names the sources of which everything beside it was made. */
const MARKER = "built.json";
/** A page that is open while a newer one is built still loads its own parts for this long. */
const OLD_ASSETS_MS = 7 * 86_400_000;
/** Smaller files gain nothing. */
const GZIP_FROM_BYTES = 1024;

export type Built = { directory: string; wasFresh: boolean };

/**
 * Bundles the pages into `directory`, unless they are there already: `index.html`, and hashed files under `assets/`
 * with a gzipped copy beside each. A build replaces `index.html` once all its files are there, so a gateway may serve from it meanwhile.
 * @throws Error if the bundle has a fault or the directory cannot be written.
 */
export async function buildPages(root: string, directory: string): Promise<Built> {
  const sources = hashOfSources(root);
  if (sourcesOf(directory) === sources) return { directory, wasFresh: true };
  const outputs = await bundle(root);
  mkdirSync(join(directory, "assets"), { recursive: true });
  const index = outputs.find(({ name }) => name === "index.html");
  if (!index) throw new Error("The bundle has no index.html.");
  const assets = outputs.filter((output) => output !== index);
  for (const asset of assets) writeAsset(directory, asset);
  replaceFile(join(directory, "index.html"), index.bytes);
  replaceFile(join(directory, MARKER), JSON.stringify({ sources, assets: assets.map(({ name }) => name) }));
  removeOld(join(directory, "assets"), new Set(assets.flatMap(({ name }) => [name, `${name}.gz`])));
  return { directory, wasFresh: false };
}

type Output = { name: string; bytes: Uint8Array };

async function bundle(root: string): Promise<Output[]> {
  const fonts = fontFiles();
  const built = await Bun.build({
    entrypoints: [join(root, ENTRY)],
    minify: true,
    splitting: true,
    target: "browser",
    publicPath: "/",
    define: { [`${"process"}.env.NODE_ENV`]: '"production"' },
    external: ["/assets/*"],
    plugins: [fonts.plugin],
    naming: { entry: "[name].[ext]", chunk: ASSET, asset: ASSET },
  });
  const outputs = built.outputs.map(async (output) => ({
    name: basename(output.path),
    bytes: new Uint8Array(await output.arrayBuffer()),
  }));
  return [...(await Promise.all(outputs)), ...fonts.found];
}

/** The bundler would put small fonts into the style sheet, so that every page loads those of all scripts. */
function fontFiles() {
  const found: Output[] = [];
  const plugin: Bun.BunPlugin = {
    name: "fonts as files",
    setup({ onLoad }) {
      onLoad({ filter: /@fontsource-variable[\\/][^\\/]+[\\/]index\.css$/ }, async ({ path }) => ({
        loader: "css",
        contents: (await Bun.file(path).text()).replaceAll(
          /url\(\.\/files\/([\w-]+)\.woff2\)/g,
          (_, font) => {
            const bytes = readFileSync(join(dirname(path), "files", `${font}.woff2`));
            const name = `${font}-${Bun.hash(bytes).toString(36)}.woff2`;
            found.push({ name, bytes });
            return `url(/assets/${name})`;
          },
        ),
      }));
    },
  };
  return { plugin, found };
}

function writeAsset(directory: string, { name, bytes }: Output): void {
  const path = join(directory, "assets", name);
  replaceFile(path, bytes);
  const isText = /\.(js|css|svg)$/.test(name);
  if (isText && bytes.length >= GZIP_FROM_BYTES)
    replaceFile(`${path}.gz`, Bun.gzipSync(Uint8Array.from(bytes)));
}

/** Also where several processes build at the same time: each file is there whole or not at all. */
function replaceFile(path: string, content: string | Uint8Array): void {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, content);
  renameSync(draft, path);
}

function removeOld(assets: string, current: ReadonlySet<string>): void {
  for (const name of new Bun.Glob("*").scanSync(assets)) {
    const path = join(assets, name);
    if (!current.has(name) && statSync(path).mtimeMs < Date.now() - OLD_ASSETS_MS)
      rmSync(path, { force: true });
  }
}

function sourcesOf(directory: string): string | null {
  const marker = join(directory, MARKER);
  if (!existsSync(marker) || !existsSync(join(directory, "index.html"))) return null;
  try {
    return JSON.parse(readFileSync(marker, "utf8")).sources;
  } catch {
    return null;
  }
}

/** Of everything that decides what the bundle contains. */
function hashOfSources(root: string): string {
  const files = SOURCES.flatMap((glob) => [...glob.scanSync(root)]);
  const hash = new Bun.CryptoHasher("sha256").update(Bun.version);
  for (const file of [...files.sort(), "bun.lock", "tsconfig.json"]) {
    hash.update(file).update(readFileSync(join(root, file)));
  }
  return hash.digest("hex");
}

/**
 * Builds the console if its sources have changed: beside the packages, or in the data directory where the checkout cannot
 * be written. A failure stops nothing: the gateway works without its console, whose addresses then say so.
 */
export async function ensurePages(dataDirectory: string, log: Log): Promise<void> {
  const [own, checkout] = pagesDirectories(dataDirectory);
  try {
    if (!arePagesPackaged()) await buildPages(ROOT, checkout);
    // The gateway looks there first, and an older one would hide what was just built.
    rmSync(own, { recursive: true, force: true });
  } catch (error) {
    if (!isUnwritable(error)) return failed(error);
    await buildPages(ROOT, own).catch(failed);
  }

  function failed(error: unknown): void {
    log.error(errorFields(error), "the console could not be built");
  }
}

const isUnwritable = (error: unknown): boolean =>
  error instanceof Error && "code" in error && /^(EACCES|EPERM|EROFS)$/.test(String(error.code));
