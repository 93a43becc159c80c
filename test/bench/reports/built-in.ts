import { CATALOGUE } from "#gateway/reports/catalogue.ts";
import { agentEstimateSpec, subscriptionSpec } from "#gateway/reports/request.ts";
import { checkSpec } from "#gateway/reports/spec.ts";
import type { Spec } from "#shared/report.ts";

const FRAME = { range: "30d", compare: "previous_period" } as const;

/** The built-in reports of 30 days with their comparison, and the two results that come with each of them. */
export const BUILT_IN: readonly { id: string; spec: Spec }[] = [
  ...CATALOGUE.map(({ id, spec }) => ({ id, spec: { ...spec, ...FRAME, filters: {} } })),
  { id: "(subscription)", spec: subscriptionSpec(FRAME) },
  { id: "(agent estimate)", spec: agentEstimateSpec(FRAME) },
].map(({ id, spec }) => ({ id, spec: checkSpec(spec) }));
