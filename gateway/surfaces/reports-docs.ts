import { type TSchema, Type } from "@sinclair/typebox";
import type { DocumentDecoration } from "elysia";
import { OverviewAnswer, OverviewFrame } from "#shared/overview.ts";
import { COMPARES, PAYLOAD_DIMENSIONS, RANGES, Spec } from "#shared/report.ts";
import { ReportCatalogue } from "#shared/report-catalogue.ts";
import { PayloadSpec, ReportPayload } from "#shared/report-payload.ts";
import { QueryAnswer, QueryAnswers, RecordsVersion } from "#shared/report-query.ts";
import { dimensionTable, measureTable } from "../reports/reference.ts";
import { FORMATS, ReportsBody } from "../reports/request.ts";
import { documented, jsonOf } from "./documented.ts";

type Parameter = Extract<NonNullable<DocumentDecoration["parameters"]>[number], { in: string }>;
type DocumentedSchema = NonNullable<Parameter["schema"]>;

const CSV = { "text/csv": { schema: { type: "string" as const } } };

const parameter = (name: string, description: string, schema: DocumentedSchema): Parameter => ({
  name,
  in: "query",
  required: false,
  description,
  schema,
});
const text: DocumentedSchema = { type: "string" };
const FORMAT = parameter("format", "CSV holds one report.", { type: "string", enum: [...FORMATS] });

type More = Omit<Parameters<typeof documented>[1], "tag" | "by" | "answers">;

/** An address that answers `schema`, and with `csv` also a file. */
const reading = (summary: string, [meaning, schema, csv]: [string, TSchema, "csv"?], more: More = {}) => {
  const docs = documented(summary, {
    tag: "Reports",
    by: ["clientKey", "adminKey"],
    ...more,
    answers: REFUSALS,
  });
  const content = { ...jsonOf(schema), ...(csv && CSV) };
  return { ...docs, responses: { "200": { description: meaning, content }, ...docs.responses } };
};

const REFUSALS = {
  400: "A field or parameter is unknown, missing or wrong; the message names it.",
  401: "No valid key.",
  403: "The key may not read reports.",
  503: "The database or the replica for reports is unavailable at the moment.",
};

const schemaOf = (summary: string) =>
  documented(summary, { tag: "Reports", by: null, answers: { 200: "The schema." } });

// A report to run. The documentation includes its spec, although that is validated separately.
const specs = ReportsBody.properties.specs.items;
const SEVERAL = { ...ReportsBody, properties: { ...ReportsBody.properties, specs: Type.Array(withSpec()) } };

function withSpec(): TSchema {
  return { ...specs, properties: { ...specs.properties, spec: PayloadSpec } };
}

/** A query, with one spec or several. */
const QUERY_BODY = {
  type: "object",
  additionalProperties: false,
  properties: {
    spec: Spec,
    time_zone: {
      type: "string",
      description: "IANA time zone of days, weeks and months. Default: the setting `report_time_zone`.",
    },
    all_rows: { type: "boolean", description: "With `format=csv`: every row, not the first 1,000." },
    rate_mix_volume: {
      type: "boolean",
      description:
        "Also answers what moved the cost: rate, mix and volume, by model, unit and tier. Needs `compare`.",
    },
    as_of: {
      type: "string",
      description:
        "An instant (RFC 3339) or a date: calls before it, with the costs that were known then. Default: now, with the latest costs.",
    },
    specs: { type: "array", minItems: 1, maxItems: 50, items: Spec },
  },
};

/** The reporting API's documentation; its measures and dimensions come from the tables that the code uses. */
export const REPORTS_DOCS = {
  schema: schemaOf("JSON Schema of the report payload"),
  querySchema: schemaOf("JSON Schema of a query's answer"),
  catalogue: reading("What reports can be asked", ["The catalogue.", ReportCatalogue], {
    description: "The dimensions and measures of each source, and the unit and meaning of each measure.",
  }),
  named: reading("Built-in and saved reports", ["The payload, or one report as CSV.", ReportPayload, "csv"], {
    description: "A given range, comparison or filter overrides a saved report's own.",
    parameters: [
      parameter("id", "Ids of reports, repeated or separated by commas. Default: every built-in report.", {
        type: "array",
        items: text,
      }),
      parameter("range", "30d if absent.", { type: "string", enum: [...RANGES] }),
      parameter("from", "Date or RFC 3339 time, instead of `range`.", text),
      parameter("to", "Date (including that day) or RFC 3339 time, instead of `range`.", text),
      parameter("compare", "none if absent.", { type: "string", enum: [...COMPARES] }),
      parameter(
        "filter",
        `\`filter[dimension]=a,b\`: AND across dimensions, OR within one. Dimensions: ${PAYLOAD_DIMENSIONS.join(", ")}.`,
        { type: "object", additionalProperties: text },
      ),
      FORMAT,
    ],
  }),
  several: reading(
    "Several reports at once",
    ["The payload; an item that fails has `result: null`.", ReportPayload, "csv"],
    { parameters: [FORMAT], body: jsonOf(SEVERAL) },
  ),
  version: reading(
    "Version of the records",
    ["The version of what the caller's reports read.", RecordsVersion],
    {
      description:
        "Poll it to keep reports on a page up to date: ask for them again once the number has changed. Numbers have no order.",
    },
  ),
  overview: reading("The reports of the Overview, of one snapshot", ["The reports.", OverviewAnswer], {
    description:
      "Spend by day, its costliest models, people and teams, merged pull requests by day and repository, and why the cost changed.",
    body: jsonOf(OverviewFrame),
  }),
  query: reading(
    "One report, as JSON or CSV, or several of one snapshot",
    ["The result.", Type.Union([QueryAnswer, QueryAnswers]), "csv"],
    {
      description: `The answer says beside its results what they cover: \`scope\`, \`empty\`, \`complete\`, \`time_zone\`, \`as_of\`. Dimensions and measures of each source:\n\n${dimensionTable()}\n\n${measureTable()}`,
      parameters: [FORMAT],
      body: jsonOf(QUERY_BODY),
    },
  ),
};
