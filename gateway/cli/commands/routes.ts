import type { Command } from "commander";
import { print, URL_OPTION } from "./common.ts";

export const addRoutes = (program: Command) =>
  program
    .command("routes")
    .description("Work with the routes and their classifier.")
    .command("evaluate")
    .description("Measure the classifier on texts whose route is known. Everything stays on this machine.")
    .argument("<file>", 'JSON lines: {"text": …, "route": …}; without a route, a text that fits none')
    .option(...URL_OPTION)
    .action(async (file: string, { url }: { url?: string }) => {
      // Loaded on demand: the classifier takes longer to load than everything else together.
      const { evaluateRoutesOf } = await import("./evaluate-routes.ts");
      print(await evaluateRoutesOf(file, url));
    });
