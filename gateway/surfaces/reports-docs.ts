import { type TSchema, Type } from "@sinclair/typebox";
import type { DocumentDecoration } from "elysia";
import { OverviewAnswer, OverviewFrame } from "#shared/overview.ts";
import { COMPARES, PAYLOAD_DIMENSIONS, RANGES, Spec } from "#shared/report.ts";
import { ReportCatalogue } from "#shared/report-catalogue.ts";
import { PayloadSpec, ReportPayload } from "#shared/report-payload.ts";
import { QueryAnswer, QueryAnswers, RecordsVersion } from "#shared/report-query.ts";
import { dimensionTable, measureTable } from "../reports/reference.ts";
import { FORMATS, ReportsBody } from "../reports/request.ts";
import { plainSchema } from "./model-docs.ts";

type Parameter = Extract<NonNullable<DocumentDecoration["parameters"]>[number], { in: string }>;
type DocumentedSchema = NonNullable<Parameter["schema"]>;

const json = (schema: TSchema) => ({ "application/json": { schema: plainSchema(schema) } });
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

const TAGS = ["Reports"];
const SECURITY = [{ clientKey: [] }, { adminKey: [] }];

const responses = (description: string, content: Record<string, object>) => ({
  "200": { description, content },
  "400": { description: "A field or parameter is unknown, missing or wrong; the message names it." },
  "401": { description: "No valid key." },
  "403": { description: "The key may not read reports." },
  "503": { description: "The database or the replica for reports is unavailable at the moment." },
});

// A report to run. The documentation includes its spec, although that is validated separately.
const specs = ReportsBody.properties.specs.items;
const SEVERAL = { ...ReportsBody, properties: { ...ReportsBody.properties, specs: Type.Array(withSpec()) } };

function withSpec(): TSchema {
  return { ...specs, properties: { ...specs.properties, spec: PayloadSpec } };
}

/** The reporting API's documentation; its measures and dimensions come from the tables that the code uses. */
export const REPORTS_DOCS = {
  schema: {
    summary: "JSON Schema of the report payload",
    tags: TAGS,
    responses: { "200": { description: "The schema." } },
  },
  querySchema: {
    summary: "JSON Schema of a query's answer",
    tags: TAGS,
    responses: { "200": { description: "The schema." } },
  },
  catalogue: {
    summary: "What reports can be asked",
    description: "The dimensions and measures of each source, and the unit and meaning of each measure.",
    tags: TAGS,
    security: SECURITY,
    responses: responses("The catalogue.", json(ReportCatalogue)),
  },
  named: {
    summary: "Built-in and saved reports",
    description: "A given range, comparison or filter overrides a saved report's own.",
    tags: TAGS,
    security: SECURITY,
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
    responses: responses("The payload, or one report as CSV.", { ...json(ReportPayload), ...CSV }),
  },
  several: {
    summary: "Several reports at once",
    tags: TAGS,
    security: SECURITY,
    parameters: [FORMAT],
    requestBody: { required: true, content: json(SEVERAL) },
    responses: responses("The payload; an item that fails has `result: null`.", {
      ...json(ReportPayload),
      ...CSV,
    }),
  },
  version: {
    summary: "Version of the records",
    description:
      "Poll it to keep reports on a page up to date: ask for them again once the number has changed. Numbers have no order.",
    tags: TAGS,
    security: SECURITY,
    responses: responses("The version of what the caller's reports read.", json(RecordsVersion)),
  },
  overview: {
    summary: "The reports of the Overview, of one snapshot",
    description:
      "Spend by day, its costliest models, people and teams, merged pull requests by day and repository, and why the cost changed.",
    tags: TAGS,
    security: SECURITY,
    requestBody: { required: true, content: json(OverviewFrame) },
    responses: responses("The reports.", json(OverviewAnswer)),
  },
  query: {
    summary: "One report, as JSON or CSV, or several of one snapshot",
    description: `The answer says beside its results what they cover: \`scope\`, \`empty\`, \`complete\`, \`time_zone\`, \`as_of\`. Dimensions and measures of each source:\n\n${dimensionTable()}\n\n${measureTable()}`,
    tags: TAGS,
    security: SECURITY,
    parameters: [FORMAT],
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: {
            type: "object" as const,
            additionalProperties: false,
            properties: {
              spec: plainSchema(Spec),
              time_zone: {
                type: "string" as const,
                description:
                  "IANA time zone of days, weeks and months. Default: the setting `report_time_zone`.",
              },
              all_rows: {
                type: "boolean" as const,
                description: "With `format=csv`: every row, not the first 1,000.",
              },
              rate_mix_volume: {
                type: "boolean" as const,
                description:
                  "Also answers what moved the cost: rate, mix and volume, by model, unit and tier. Needs `compare`.",
              },
              as_of: {
                type: "string" as const,
                description:
                  "An instant (RFC 3339) or a date: calls before it, with the costs that were known then. Default: now, with the latest costs.",
              },
              specs: { type: "array" as const, minItems: 1, maxItems: 50, items: plainSchema(Spec) },
            },
          },
        },
      },
    },
    responses: responses("The result.", { ...json(Type.Union([QueryAnswer, QueryAnswers])), ...CSV }),
  },
};
