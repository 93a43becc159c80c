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

type Launchable = { executablePath: string; args: string[] };

async function findBrowser(): Promise<Launchable | null> {
  if (process.platform === "linux" && process.arch === "x64") {
    return {
      executablePath: await chromium.executablePath(),
      args: [...chromium.args.filter((it) => !UNFIT.test(it)), "--disable-gpu"],
    };
  }
  const executablePath = INSTALLED.find((path) => existsSync(path));
  return executablePath ? { executablePath, args: ["--no-sandbox"] } : null;
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
  /** Waits until the page has a heading and every answer that it asked for. */
  settled(): Promise<void>;
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
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (message) => {
    const text = message.text();
    // A 401 before the sign-in is an answer, no fault.
    if (message.type() === "error" && !/status of 4\d\d/.test(text)) faults.push(text);
  });
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !/^(data|blob):/.test(url)) faults.push(`left the origin: ${url}`);
  });
  return { page, context, faults, settled: settling(page) };
}

/** A page asks for more once it has drawn what it got, so one moment without a request under way is not enough. */
const QUIET_MS = 120;

function settling(page: Page): () => Promise<void> {
  let underWay = 0;
  let quietSince = Date.now();
  const ended = () => {
    underWay--;
    quietSince = Date.now();
  };
  page.on("request", () => underWay++);
  page.on("requestfinished", ended);
  page.on("requestfailed", ended);
  return async () => {
    await page.getByRole("heading", { level: 1 }).waitFor();
    quietSince = Date.now();
    await until(() => underWay === 0 && Date.now() - quietSince >= QUIET_MS);
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

type AxeRun = { violations: { id: string; impact: string | null; nodes: { html: string }[] }[] };

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
  const { violations } = (await page.evaluate(
    `axe.run(${JSON.stringify(LOOKED_AT)}, ${JSON.stringify(RULES)})`,
  )) as AxeRun;
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes
          .slice(0, 3)
          .map(({ html }) => html.slice(0, 200))
          .join(" | ")}`,
    );
}
