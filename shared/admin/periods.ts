import { type Static, Type } from "@sinclair/typebox";
import { checked, closed, Integer, nullable, oneOf, Text } from "../schema.ts";
import { pageOf } from "./fields.ts";

const MONTH = /^20\d\d-(0[1-9]|1[0-2])$/;

/** `POST /admin/v1/periods/close` and `/reopen`. */
export const PeriodBody = closed({
  month: checked<string>(
    { type: "string", pattern: MONTH.source, description: "A month (UTC), such as `2026-10`." },
    "a month such as 2026-10",
    (value) => typeof value === "string" && MONTH.test(value),
  ),
});
export type PeriodBody = Static<typeof PeriodBody>;

const Money = Text("Exact decimal, USD.");
export const PeriodView = closed({
  month: Type.String(),
  state: oneOf(["closed", "open"]),
  closed_at: nullable(Type.String()),
  changed_at: Text("When it was closed or reopened last."),
  actor: Text("Who closed or reopened it last."),
  records: Integer("Its records when it was closed last."),
  cost_usd: { ...Money, description: "Their known cost, without the subscription lane. Exact decimal, USD." },
  late_records: Integer("Records that came since, or whose cost came since. They are recorded as usual."),
  late_cost_usd: { ...Money, description: "What they added to the cost. Exact decimal, USD." },
});
export type PeriodView = Static<typeof PeriodView>;
export const PeriodList = pageOf(PeriodView);
