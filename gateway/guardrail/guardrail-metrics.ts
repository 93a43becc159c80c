import { Counter, type Registry } from "prom-client";

/** The label is safe as a metric label: rule names are set by administrators, not by clients. */
export function guardrailCounter(registry: Registry): (guardrail: string, outcome: string) => void {
  const held = new Counter({
    name: "tallygate_guardrail_matches_total",
    help: "Calls that a guardrail matched.",
    labelNames: ["guardrail", "outcome"],
    registers: [registry],
  });
  return (guardrail, outcome) => held.inc({ guardrail, outcome });
}
