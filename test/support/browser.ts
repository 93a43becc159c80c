import { existsSync } from "node:fs";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import chromium from "@sparticuz/chromium";
import {
  type Browser,
  type BrowserContext,
  type Download,
  type Page,
  chromium as playwright,
} from "playwright-core";
import { pagesDirectories } from "#gateway/cli/own-program.ts";
import { buildPages } from "#gateway/cli/pages/build-pages.ts";
import { atEnd } from "./at-end.ts";
import { familyOf, HAS_PROC } from "./processes.ts";
import { usedBy } from "./processor-time.ts";
import { until } from "./until.ts";

const ROOT = join(import.meta.dir, "../..");

/** Where systems keep theirs, for machines that cannot run the one that comes with the packages. */
const INSTALLED = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/** Of the package's arguments, what a browser with several profiles and the web's own protection cannot have. */
const UNFIT =
  /^--(single-process|no-zygote|in-process-gpu|use-gl=.*|use-angle=.*|ignore-gpu-blocklist|enable-unsafe-swiftshader|disable-web-security|disable-site-isolation-trials|allow-running-insecure-content)$/;

/** Only what hangs takes as long; a test's own limit is longer, so that the error names what is missing. */
const PATIENCE_MS = 240_000;

type Launchable = { executablePath: string; args: string[]; timeout: number };

async function findBrowser(): Promise<Launchable | null> {
  if (process.platform === "linux" && process.arch === "x64") {
    return {
      executablePath: await chromium.executablePath(),
      args: [...chromium.args.filter((it) => !UNFIT.test(it)), "--disable-gpu"],
      timeout: PATIENCE_MS,
    };
  }
  const executablePath = INSTALLED.find((path) => existsSync(path));
  return executablePath ? { executablePath, args: ["--no-sandbox"], timeout: PATIENCE_MS } : null;
}

/** Null where no browser can run: the suites say so and skip. */
export const BROWSER = await findBrowser();
if (!BROWSER) console.warn("No Chromium was found, so tests of the console in a browser are skipped.");

/** The built console, as a start makes it; the test command has made it before the suites begin. */
export const builtPages = () => buildPages(ROOT, pagesDirectories("/nonexistent")[1]);

/** Where the browser is that `test/run.ts` started for all suites. */
const ADDRESS = "TALLYGATE_TEST_BROWSER";

export type SharedBrowser = {
  /** For the environment of the suites. */
  env: Record<string, string>;
  /** Ends it; seconds of processor time that it used, or null where the system does not tell. */
  close(): Promise<number | null>;
};

/** Starts the browser that suites share, each with profiles of its own. It ends with this process, however that ends. */
export async function startBrowser(): Promise<SharedBrowser | null> {
  if (!BROWSER) return null;
  const signals = { handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false };
  const server = await playwright.launchServer({ ...BROWSER, ...signals, headless: true, host: "127.0.0.1" });
  return {
    env: { [ADDRESS]: server.wsEndpoint() },
    async close() {
      const used = HAS_PROC ? familyOf(server.process().pid ?? 0).map((pid) => usedBy(pid) ?? 0) : null;
      await server.close();
      return used?.reduce((sum, seconds) => sum + seconds, 0) ?? null;
    },
  };
}

/** The browser that suites share, or one of its own for a file that runs alone. It, or its profiles, end with the file. */
export async function launchBrowser(): Promise<Browser> {
  if (!BROWSER) throw new Error("There is no browser.");
  await builtPages();
  const address = process.env[ADDRESS];
  const browser = await (address === undefined
    ? playwright.launch({ ...BROWSER, headless: true })
    : playwright.connect(address));
  atEnd(() => browser.close());
  return browser;
}

/** What a download holds. */
export const downloaded = async (download: Download): Promise<string> =>
  await textOf(await download.createReadStream());

export type Visit = {
  page: Page;
  context: BrowserContext;
  /** Waits until the page has a heading, has every answer that it asked for, and has drawn it. */
  settled(): Promise<void>;
  /**
   * Opens an address as a link of the console does, in a page that is there already, and settles: a fifth of the processor
   * time of loading it. What an earlier page was told stays known for a while, as it does for a person who follows a link.
   */
  follow(path: string): Promise<void>;
  /**
   * The same, and asks again for all that the page shows. An address of the page that is open is loaded, so that no dialog or
   * typed text stays.
   */
  reopen(path: string): Promise<void>;
  /** Errors of scripts, refusals of the content policy, and requests to other origins. */
  faults: string[];
};

type VisitOptions = {
  origin: string;
  dark?: boolean;
  width?: number;
  height?: number;
  headers?: Record<string, string>;
};

/** A browser profile of its own at the gateway. */
export async function visit(browser: Browser, options: VisitOptions): Promise<Visit> {
  const { origin, dark = false, width = 1440, height = 900, headers = {} } = options;
  const context = await browser.newContext({
    baseURL: origin,
    viewport: { width, height },
    colorScheme: dark ? "dark" : "light",
    extraHTTPHeaders: headers,
    locale: "en-US",
    timezoneId: "Europe/Berlin",
    reducedMotion: "reduce",
  });
  context.setDefaultTimeout(PATIENCE_MS);
  await context.addInitScript({ content: WATCHED });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (message) => {
    const text = message.text();
    // A 401 before the sign-in is an answer, no fault; nor is a gateway too busy to answer, which is asked again.
    if (message.type() === "error" && !/status of (4\d\d|503)/.test(text)) {
      faults.push(`${text} ${message.location().url}`);
    }
  });
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !/^(data|blob):/.test(url)) faults.push(`left the origin: ${url}`);
  });
  const settled = settling(page);
  const follow = async (path: string) => {
    await page.evaluate(`history.pushState(null, "", ${JSON.stringify(path)})`);
    await settled();
  };
  const reopen = async (path: string) => {
    if (new URL(path, origin).pathname === new URL(page.url()).pathname) await page.goto(path);
    else await page.evaluate(FORGOTTEN).then(() => follow(path));
    await settled();
  };
  return { page, context, faults, settled, follow, reopen };
}

/** Nothing that the page was told counts as known any more. */
const FORGOTTEN = `{
  const { client } = __TSR_ROUTER__.options.context;
  client.removeQueries({ type: "inactive" });
  void client.invalidateQueries({ refetchType: "none" });
}`;

/**
 * `unrest()` in a page: what it still does; null if no answer is on its way, no page of the console is being loaded, and the
 * browser has had nothing to do twice, between which timers went off. It counts by the page's own tasks, so a busy machine
 * changes nothing; and it keeps the browser's own clock, which a test may replace.
 */
const WATCHED = `{
  let waiting = 0;
  const later = setTimeout.bind(window), idle = requestIdleCallback.bind(window);
  const count = (of, name) => {
    const own = of[name];
    of[name] = function (...all) {
      waiting++;
      const done = () => waiting--;
      const answer = own.apply(this, all);
      answer.then(done, done);
      return answer;
    };
  };
  count(window, "fetch");
  for (const name of ["arrayBuffer", "blob", "json", "text"]) count(Response.prototype, name);
  window.unrest = async () => {
    // A page that opens asks for the records' version after 50 ms.
    for (const pause of [60, 5]) {
      await new Promise((done) => later(done, pause));
      // A page that draws all the time on a busy machine has no idle moment.
      await new Promise((done) => idle(done, { timeout: 1000 }));
      if (waiting > 0) return waiting + " answers are on their way";
      if (window.__TSR_ROUTER__?.state.status === "pending") return "a page is being loaded";
    }
    return null;
  };
}`;

function settling(page: Page): () => Promise<void> {
  let underWay = 0;
  page.on("request", () => underWay++);
  page.on("requestfinished", () => underWay--);
  page.on("requestfailed", () => underWay--);
  // A page that is left meanwhile cannot answer.
  const asked = () => page.evaluate<string | null>("unrest()").catch(String);
  const silent = () => Bun.sleep(60_000).then(() => "the page does not answer");
  return async () => {
    await page.getByRole("heading", { level: 1 }).waitFor();
    let unrest: string | null = null;
    await until(async () => {
      unrest = underWay > 0 ? `${underWay} requests` : await Promise.race([asked(), silent()]);
      return unrest === null && underWay === 0;
    }).catch((error) => {
      throw new Error(`the page is not at rest: ${unrest}`, { cause: error });
    });
  };
}

/** Follows a one-time link, as whoever it names. */
export async function followLink({ page }: Visit, link: string): Promise<void> {
  await page.goto(link);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("navigation", { name: "Main" }).waitFor();
}

const AXE = await Bun.file(Bun.fileURLToPath(import.meta.resolve("axe-core/axe.min.js"))).text();
/** Profiles in which axe waits on every page: sending it to each anew would take as long as it runs. */
const withAxe = new WeakSet<BrowserContext>();

/** Rows of a table are alike, and each costs axe as much as the first. */
const LOOKED_AT = { exclude: ["tbody tr:nth-child(n+7)"] };
/** Of the dear rules, this one finds nothing that is serious. */
const RULES = { resultTypes: ["violations"], rules: { region: { enabled: false } } };

/** Nothing else leaves the page: all that axe says takes as long to bring over as it takes to find. */
const SERIOUS = `({ violations }) => violations
  .filter(({ impact }) => impact === "serious" || impact === "critical")
  .map(({ id, nodes }) => id + ": " + nodes.slice(0, 3).map(({ html }) => html.slice(0, 200)).join(" | "))`;

/** What axe finds on the page that is serious, each with its first places. */
export async function faultsOfAccess(page: Page): Promise<string[]> {
  if (!withAxe.has(page.context())) {
    withAxe.add(page.context());
    const content = `window.loadAxe = () => {${AXE}};`;
    await page.context().addInitScript({ content });
    await page.evaluate(content);
  }
  await page.evaluate("window.axe || loadAxe()");
  // Colours that are on their way from one scheme to the other are nobody's choice.
  await page.evaluate(`new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))
    .then(() => Promise.allSettled(document.getAnimations().map((it) => it.finished)))`);
  return await page.evaluate<string[]>(
    `axe.run(${JSON.stringify(LOOKED_AT)}, ${JSON.stringify(RULES)}).then(${SERIOUS})`,
  );
}
