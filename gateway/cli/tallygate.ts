import { Command } from "commander";
import { evaluateRoutesOf } from "./commands/evaluate-routes.ts";

const program = new Command("tallygate").description("What administrators do from a terminal.");

program
  .command("routes")
  .description("The routes and their classifier.")
  .command("evaluate")
  .description("Hold the classifier against texts whose route is known; nothing is sent anywhere.")
  .argument("<file>", 'JSON lines: {"text": …, "route": …}; without a route, a text that fits none')
  .option("--url <url>", "the gateway (PUBLIC_URL, else HOST and PORT)")
  .action(async (file: string, { url }: { url?: string }) => {
    process.stdout.write(`${await evaluateRoutesOf(file, url)}\n`);
  });

try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : "failed"}\n`);
  process.exitCode = 1;
}
