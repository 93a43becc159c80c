import type { Command } from "commander";
import { Result } from "#shared/report.ts";
import { type Api, ApiError, apiAt, expectShape } from "../client/api.ts";
import { clientGateway, gatewayUrl } from "../client/settings.ts";
import { OwnAccount, type OwnUsage, usageText } from "../print/usage-text.ts";
import { print, URL_OPTION } from "./common.ts";

type Options = { url?: string; json?: true };

export const addOwnUsage = (program: Command) =>
  program
    .command("usage")
    .description("What you spent this month, against your budget, by model and by day.")
    .option("--json", "print the gateway's answers as JSON")
    .option(...URL_OPTION)
    .addHelpText(
      "after",
      '\nUses TALLYGATE_KEY, otherwise the key of `tallygate login`. "≥" marks money that is a lower bound.',
    )
    .action((options: Options) => usage(options));

async function usage({ url, json }: Options): Promise<void> {
  const gateway = clientGateway(url);
  if (gateway === null) {
    throw new Error(
      `You are not logged in at ${gatewayUrl(url)}. Run \`tallygate login\`, or set TALLYGATE_KEY.`,
    );
  }
  const found = await read(apiAt(gateway.url, gateway.key)).catch((error: unknown) => {
    const remedy = error instanceof ApiError ? REMEDIES[error.status ?? 0]?.(gateway) : undefined;
    throw remedy ? new Error(remedy, { cause: error }) : error;
  });
  print(json ? JSON.stringify(found, null, 2) : usageText(found));
}

type Gateway = NonNullable<ReturnType<typeof clientGateway>>;

/** What to do, by the status of the gateway's refusal. */
const REMEDIES: Readonly<Record<number, (gateway: Gateway) => string>> = {
  401: ({ url, isGiven }) => {
    const what = isGiven ? "Correct TALLYGATE_KEY, or unset it and run" : "Run";
    return `${url} does not accept your key: it is unknown there, was revoked or has expired. ${what} \`tallygate login\`.`;
  },
  403: () =>
    "This key has no owner, so it has no usage of its own. Unset TALLYGATE_KEY and run `tallygate login`, or use your own key.",
};

async function read(api: Api): Promise<OwnUsage> {
  const by = async (dimension: string) =>
    expectShape(Result, await api.call("GET", `/v1/me/usage?by=${dimension}&range=mtd`), "The usage");
  return {
    me: expectShape(OwnAccount, await api.call("GET", "/v1/me"), "Your account"),
    models: await by("model"),
    days: await by("day"),
  };
}
