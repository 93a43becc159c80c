import type { Made } from "../stores/reports/report-writer.ts";

/** What is true of an answer so far: whether it has all calls that had ended when it was asked for. */
export type Whole = { complete: boolean };

export const incompleteHeader = ({ complete }: Whole): Record<string, string> =>
  complete ? {} : { "x-gateway-report-incomplete": "true" };

export const answer = (whole: Whole, made: Made): Response =>
  new Response(made, {
    headers: {
      ...incompleteHeader(whole),
      "content-type": "application/json",
      ...(typeof made === "string" ? {} : { "content-encoding": "gzip" }),
      vary: "accept-encoding",
    },
  });

export const schemaAnswer = (value: unknown): Response => answer({ complete: true }, JSON.stringify(value));
