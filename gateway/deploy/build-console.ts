/** `bun gateway/deploy/build-console.ts`: builds the console beside the packages, for an image that cannot be written later. */
import { join } from "node:path";
import { pagesDirectories } from "../cli/own-program.ts";
import { buildPages } from "../cli/pages/build-pages.ts";

const ROOT = join(import.meta.dir, "../..");
const [, beside] = pagesDirectories(ROOT);

await buildPages(ROOT, beside);
