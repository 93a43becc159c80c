import { beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { parse } from "yaml";
import { isFaultRun, longTest } from "#test/support/fault-run.ts";
import { anchorsOf } from "#test/support/pages.ts";
import { livedIn } from "./lived-in.ts";
import { labelsByMetric, namedIn } from "./promql.ts";

const ROOT = join(import.meta.dir, "../..");
const MONITORING = join(ROOT, "gateway/deploy/monitoring");

type Rule = {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; runbook: string; fault: string };
};
type Panel = { title: string; type: string; targets?: { expr: string }[] };

const { groups }: { groups: { rules: Rule[] }[] } = parse(
  await Bun.file(join(MONITORING, "alerts.yaml")).text(),
);
const rules = groups.flatMap((group) => group.rules);
const dashboard: { panels: Panel[] } = await Bun.file(join(MONITORING, "dashboard.json")).json();
const panels = dashboard.panels.filter(({ type }) => type !== "row");
const expressions = [
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
  ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
];

describe("every expression of the alerts and the dashboard", () => {
  let real: Map<string, Set<string>>;
  beforeAll(async () => {
    if (!isFaultRun) return;
    const { gateway, githubApp } = await livedIn();
    real = labelsByMetric(`${gateway}\n${githubApp}`);
  });

  longTest(
    "recorder/recorder-metrics, recorder/spend-metrics, limits/budget-metrics, github-app/metrics (the metrics have these names)",
  )("is PromQL of metrics and labels that a real gateway or GitHub App exports", () => {
    expect(expressions.length).toBeGreaterThan(40);
    const wrong = expressions.flatMap(([title, expr]) => {
      const { faults, metrics, labels } = namedIn(expr);
      // Prometheus makes `up` itself.
      const own = metrics.filter((name) => name !== "up");
      const known = new Set(own.flatMap((name) => [...(real.get(name) ?? [])]));
      const missing = own.filter((name) => !real.has(name));
      const foreign = labels.filter((name) => !known.has(name));
      return [...faults, ...missing, ...foreign].map((fault) => `${title}: ${fault}`);
    });
    expect(wrong).toEqual([]);
  });

  longTest(
    "recorder/recorder-metrics, recorder/spend-metrics, limits/budget-metrics, github-app/metrics (the metrics have these names)",
  )("and every exported metric but those of details is on the dashboard or in an alert", () => {
    const shown = new Set(expressions.flatMap(([, expr]) => namedIn(expr).metrics));
    const unseen = [...real.keys()].filter((name) => !shown.has(name) && !shown.has(`${name}_bucket`));
    expect(unseen.toSorted()).toEqual([
      "process_cpu_seconds_total",
      "process_open_fds",
      "process_resident_memory_bytes",
      "process_start_time_seconds",
      "tallygate_build_info",
      "tallygate_call_seconds_count",
      "tallygate_call_seconds_sum",
      "tallygate_first_byte_seconds_count",
      "tallygate_first_byte_seconds_sum",
      "tallygate_github_waiting",
      "tallygate_github_waits_total",
      "tallygate_limit_overruns_total",
      "tallygate_limits_away_calls_total",
      "tallygate_records_recovered_total",
      "tallygate_spool_damaged_files_total",
      "tallygate_spool_open_calls",
      "tallygate_tokens_total",
    ]);
  });
});

describe("every alert", () => {
  test("has a name of its own and a severity", () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    const severities = rules.map(({ labels }) => labels.severity);
    expect(severities.filter((it) => !["warning", "critical"].includes(it))).toEqual([]);
  });

  test.each(rules.map((rule) => [rule.alert, rule] as const))(
    "%s leads to a row of the faults",
    async (_, rule) => {
      const [path = "", anchor = ""] = rule.annotations.runbook.split("#");
      const page = await Bun.file(join(ROOT, path)).text();
      const sections = page.split(/^(?=## )/m);
      const section = sections.find((text) => anchorsOf(text).includes(anchor)) ?? "";
      expect(section).toContain(`\n| ${rule.annotations.fault} |`);
    },
  );
});
