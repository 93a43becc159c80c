import { type Static, Type } from "@sinclair/typebox";
import { figuresOf, filtersBy, PAYLOAD_DIMENSIONS, PAYLOAD_MEASURES, Result, Row, Spec } from "./report.ts";
import { closed, nullable, oneOf } from "./schema.ts";

// The reporting payload of `GET` and `POST /v1/reports`. Words that only queries take do not exist here.

export const PayloadSpec = Type.Unsafe<Spec>(
  closed({
    ...Spec.properties,
    dimensions: Type.Array(oneOf(PAYLOAD_DIMENSIONS), { maxItems: 2 }),
    measures: Type.Array(oneOf(PAYLOAD_MEASURES), { minItems: 1, maxItems: 40 }),
    filters: filtersBy(PAYLOAD_DIMENSIONS),
  }),
);
const PayloadFigures = nullable(figuresOf(PAYLOAD_MEASURES));
const PayloadRow = closed({
  ...Row.properties,
  current: PayloadFigures,
  previous: PayloadFigures,
  delta: PayloadFigures,
});
const PayloadResult = Type.Unsafe<Result>(
  closed({ ...Result.properties, spec: PayloadSpec, rows: Type.Array(PayloadRow), total: PayloadRow }),
);

export const Report = closed({
  id: Type.String(),
  title: Type.String(),
  description: Type.String(),
  result: nullable(PayloadResult),
});
export type Report = Static<typeof Report>;

/** The reporting payload (spec, Report result). */
export const ReportPayload = closed({
  reports: Type.Array(Report),
  subscription: PayloadResult,
  agentEstimate: PayloadResult,
});
export type ReportPayload = Static<typeof ReportPayload>;

/** The payload's JSON Schema, draft 2020-12, as `GET /v1/reports/schema.json` answers it. */
export const REPORT_JSON_SCHEMA = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "Report payload",
  ...ReportPayload,
};
