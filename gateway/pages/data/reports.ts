import { keepPreviousData, type QueryClient, useQuery } from "@tanstack/react-query";
import type { Page } from "#shared/admin/fields.ts";
import type { SavedReportView } from "#shared/admin/reports.ts";
import type { Spec } from "#shared/report.ts";
import type { ReportCatalogue } from "#shared/report-catalogue.ts";
import type { QueryAnswer, QueryAnswers } from "#shared/report-query.ts";
import { api, getJson, sendJson } from "./api.ts";
import { OF_RECORDS, versionKnown } from "./follow-records.ts";

export const CATALOGUE_QUERY = {
  queryKey: ["reports", "catalogue"],
  queryFn: () => getJson<ReportCatalogue>("/v1/reports/catalogue"),
  staleTime: Number.POSITIVE_INFINITY,
} as const;

export const useCatalogue = (enabled = true) => useQuery({ ...CATALOGUE_QUERY, enabled });

export const REPORTS_QUERY = {
  queryKey: ["reports", "saved"],
  queryFn: () => getJson<Page<SavedReportView>>("/admin/v1/reports?limit=500"),
} as const;

type Context = { client: QueryClient; signal: AbortSignal };

/** Asks once the version is known that later answers are compared with. */
async function ask<T>({ client, signal }: Context, body: unknown): Promise<T> {
  await versionKnown(client);
  return await sendJson<T>("/v1/reports/query", { method: "POST", body, signal });
}

/** What is asked beside a report: `rate_mix_volume` of its change, and its figures as they were known at `as_of`. */
type Beside = { rate_mix_volume?: true; as_of?: string | undefined };

/** One report; what was shown stays until the next answer. */
export const useReport = (spec: Spec | null, beside: Beside = {}) =>
  useQuery({
    queryKey: ["report", spec, beside],
    queryFn: (context) => ask<QueryAnswer>(context, { spec, ...beside }),
    meta: OF_RECORDS,
    enabled: spec !== null,
    placeholderData: keepPreviousData,
  });

/** Several reports of one snapshot, by id. */
export const useReports = <Id extends string>(specs: Readonly<Partial<Record<Id, Spec>>>) =>
  useQuery({
    queryKey: ["reports", specs],
    queryFn: async (context) => {
      const { results, ...facts } = await ask<QueryAnswers>(context, { specs: Object.values(specs) });
      return Object.keys(specs).flatMap((id, i) => (results[i] ? [[id, { ...results[i], ...facts }]] : []));
    },
    meta: OF_RECORDS,
    placeholderData: keepPreviousData,
    // The answer has the ids that were asked for, and no others.
    select: (answers) => Object.fromEntries(answers) as Readonly<Partial<Record<Id, QueryAnswer>>>,
  });

/** Saves a report as CSV under the name that the gateway gives it. */
export async function saveCsv(spec: Spec, beside: Beside): Promise<void> {
  const answer = await api("/v1/reports/query?format=csv", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ spec, ...beside }),
  });
  const [, name = "report.csv"] =
    /filename="([^"]+)"/.exec(answer.headers.get("content-disposition") ?? "") ?? [];
  const url = URL.createObjectURL(await answer.blob());
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
