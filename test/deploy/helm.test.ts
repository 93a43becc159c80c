import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { StatefulSet } from "kubernetes-models/apps/v1/StatefulSet";
import { HorizontalPodAutoscaler } from "kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler";
import { Ingress } from "kubernetes-models/networking.k8s.io/v1/Ingress";
import { NetworkPolicy } from "kubernetes-models/networking.k8s.io/v1/NetworkPolicy";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1/PodDisruptionBudget";
import { Service } from "kubernetes-models/v1/Service";
import { ServiceAccount } from "kubernetes-models/v1/ServiceAccount";
import { parse, parseAllDocuments } from "yaml";
import { SETTING_NAMES } from "#gateway/config.ts";
import { GithubAppEnv } from "#shared/github-app-config.ts";
import { argumentsOf, environment } from "./dockerfile.ts";
import { helm, runHelm } from "./helm.ts";

const ROOT = join(import.meta.dir, "../..");
const CHART = join(ROOT, "gateway/deploy/helm");
if (helm === null) console.error("helm is not there, so the chart is not rendered");

const KINDS = {
  StatefulSet,
  HorizontalPodAutoscaler,
  Ingress,
  NetworkPolicy,
  PodDisruptionBudget,
  Service,
  ServiceAccount,
};

// biome-ignore lint/suspicious/noExplicitAny: what Helm renders; its shapes are checked against Kubernetes' schemas.
type Rendered = any;

const render = (values: Record<string, string> = {}, release = "it"): Rendered[] =>
  rendered(
    release,
    Object.entries(values).flatMap(([name, value]) => ["--set-json", `${name}=${value}`]),
  );

function rendered(release: string, words: readonly string[]): Rendered[] {
  const { exitCode, said, printed } = runHelm([
    "template",
    release,
    CHART,
    "--namespace",
    "models",
    ...words,
  ]);
  if (exitCode !== 0) throw new Error(said);
  return parseAllDocuments(printed)
    .map((document) => document.toJS())
    .filter((it) => it !== null);
}

const EVERYTHING = {
  ingress:
    '{"enabled":true,"className":"nginx","host":"models.example.com","tlsSecretName":"tls","annotations":{"a":"b"}}',
  "caBundle.configMapName": '"company-ca"',
  extraVolumes: '[{"name":"more","emptyDir":{}}]',
  extraVolumeMounts: '[{"name":"more","mountPath":"/more"}]',
  "serviceAccount.annotations": '{"iam.gke.io/gcp-service-account":"a@b.iam.gserviceaccount.com"}',
  "autoscaling.enabled": "true",
  "serviceMonitor.enabled": "true",
  "serviceMonitor.labels": '{"release":"prometheus"}',
  "networkPolicy.from": '[{"podSelector":{"matchLabels":{"app":"ingress"}}}]',
  settings: '{"PUBLIC_URL":"https://models.example.com","LOG_LEVEL":"warn","CALLS_MAX":5000}',
  envFrom: '[{"secretRef":{"name":"providers"}}]',
  "spool.storageClassName": '"fast"',
  imagePullSecrets: '[{"name":"registry"}]',
  podAnnotations: '{"a":"b"}',
  nodeSelector: '{"kubernetes.io/arch":"amd64"}',
  tolerations: '[{"key":"models","operator":"Exists"}]',
  affinity: '{"podAntiAffinity":{}}',
  "image.digest": `"sha256:${"0".repeat(64)}"`,
};

function requireValid(all: Rendered[]): void {
  expect(all.length).toBeGreaterThanOrEqual(3);
  for (const it of all) {
    if (it.kind === "ServiceMonitor") continue;
    const Kind = KINDS[it.kind as keyof typeof KINDS];
    // It throws what Kubernetes' schema says of a wrong member.
    new Kind(it).validate();
  }
}

describe.if(helm !== null)("the chart", () => {
  const one = (all: Rendered[], kind: string): Rendered => all.find((it) => it.kind === kind);

  test("passes Helm's own checks, also the strict ones", () => {
    expect(runHelm(["lint", "--strict", CHART])).toMatchObject({ exitCode: 0 });
  });

  test.each([
    ["its defaults", {}],
    ["everything switched on", EVERYTHING],
    [
      "everything switched off",
      { "podDisruptionBudget.enabled": "false", "networkPolicy.enabled": "false", resources: "null" },
    ],
  ])("renders valid objects of Kubernetes with %s", (_, values) => {
    requireValid(render(values));
  });

  test.each(readdirSync(join(CHART, "ci")))(
    "renders valid objects of Kubernetes with the usual values of %s",
    (file) => {
      const values = join(CHART, "ci", file);
      expect(runHelm(["lint", "--strict", CHART, "--values", values])).toMatchObject({ exitCode: 0 });
      requireValid(rendered("it", ["--values", values]));
    },
  );

  test.each([
    ["replica", "3"],
    ["settings", '{"DATABASE_URL":"postgres://in-a-values-file"}'],
    ["settings", '{"TRUSTED_PROXIES":"loopback"}'],
    ["settings", '{"public_url":"https://models.example.com"}'],
    ["ingress", '{"enabled":true,"hosts":["models.example.com"]}'],
    ["service.type", '"Loadbalancer"'],
  ])("refuses %s=%s, a slip that Kubernetes would not notice", (name, value) => {
    expect(() => render({ [name]: value })).toThrow(/values don't meet the specifications/);
  });

  test("behind an ingress the App's webhooks and entry reach it, and it knows the address", () => {
    const host = { "ingress.enabled": "true", "ingress.host": '"models.example.com"' };
    const all = render(host);
    const [rule] = one(all, "Ingress").spec.rules;
    const app = rule.http.paths.filter((it: Rendered) => it.backend.service.port.name === "github-app");
    expect(app.map((it: Rendered) => it.path)).toEqual(["/api/github/webhooks", "/setup"]);
    const urlIn = (made: Rendered[]) =>
      one(made, "StatefulSet").spec.template.spec.containers[0].env.filter(
        (it: Rendered) => it.name === "GITHUB_APP_URL",
      );
    expect(urlIn(all)).toEqual([{ name: "GITHUB_APP_URL", value: "https://models.example.com" }]);
    const own = { GITHUB_APP_URL: "https://hooks.example.com" };
    expect(urlIn(render({ ...host, settings: JSON.stringify(own) }))).toMatchObject([
      { value: own.GITHUB_APP_URL },
    ]);
    expect(urlIn(render())).toEqual([]);
  });

  test("an ingress without a host says what is missing", () => {
    expect(() => render({ "ingress.enabled": "true" })).toThrow("ingress.host is missing");
  });

  test("selects its own pods and no others", () => {
    const all = render(EVERYTHING);
    const pod = one(all, "StatefulSet").spec.template.metadata.labels;
    const selectors = all.flatMap(({ kind, spec }) =>
      kind === "Service" ? [spec.selector] : [spec?.selector?.matchLabels, spec?.podSelector?.matchLabels],
    );
    const used = selectors.filter((it) => it !== undefined && !("app.kubernetes.io/component" in it));
    expect(used).toHaveLength(5);
    for (const it of used) expect(pod).toMatchObject(it);
    const { selector } = one(all, "ServiceMonitor").spec;
    const found = all.filter(
      (it) => it.kind === "Service" && Bun.deepMatch(selector.matchLabels, it.metadata.labels),
    );
    expect(found.map((it) => it.metadata.name)).toEqual(["it-tallygate-pods"]);
    expect(one(all, "StatefulSet").spec.serviceName).toBe("it-tallygate-pods");
    expect(one(render({}, "other"), "StatefulSet").spec.selector.matchLabels).not.toEqual(
      one(all, "StatefulSet").spec.selector.matchLabels,
    );
  });

  test("runs the image as it is made: its user, its volume, its ports, read-only, and with settings that exist", () => {
    const { spec } = one(render(EVERYTHING), "StatefulSet").spec.template;
    const [container] = spec.containers;
    expect(`${spec.securityContext.runAsUser}:${spec.securityContext.runAsGroup}`).toBe(
      argumentsOf("USER")[0] ?? "",
    );
    expect(container.securityContext).toMatchObject({
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
    });
    expect(container.volumeMounts[0].mountPath).toBe(environment()["DATA_DIR"]);
    expect(container.ports.map((it: Rendered) => it.containerPort).join(" ")).toBe(
      argumentsOf("EXPOSE")[0] ?? "",
    );
    const names: string[] = container.env.map((it: Rendered) => it.name);
    expect(
      names.filter((name) => ![...SETTING_NAMES, ...Object.keys(GithubAppEnv.properties)].includes(name)),
    ).toEqual(["NODE_EXTRA_CA_CERTS"]);
    expect(new Set(names).size).toBe(names.length);
  });

  test("a stopped pod has time for what is announced, then for its running calls", () => {
    const values = parse(runHelm(["show", "values", CHART]).printed);
    const { spec } = one(render(), "StatefulSet").spec.template;
    const [{ lifecycle, env }] = spec.containers;
    const drain = Number(env.find((it: Rendered) => it.name === "DRAIN_SECONDS_MAX").value);
    expect(drain).toBe(values.drainSeconds);
    const announced = Number(lifecycle.preStop.exec.command.at(-1));
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(announced + drain + 28);
  });

  test("has no secret of its own, and reads them by reference", () => {
    const all = render({ secretName: '"mine"' });
    expect(all.map(({ kind }) => kind)).not.toContain("Secret");
    const { env } = one(all, "StatefulSet").spec.template.spec.containers[0];
    const references = env
      .filter((it: Rendered) => it.valueFrom)
      .map((it: Rendered) => [it.name, it.valueFrom.secretKeyRef]);
    expect(Object.fromEntries(references)).toEqual({
      ADMIN_KEY: { name: "mine", key: "admin-key" },
      DATABASE_URL: { name: "mine", key: "database-url" },
      MASTER_KEY: { name: "mine", key: "master-key" },
    });
  });

  test("leaves the number of pods to the autoscaler where there is one", () => {
    expect(one(render(), "StatefulSet").spec.replicas).toBe(2);
    const all = render({ "autoscaling.enabled": "true" });
    expect(one(all, "StatefulSet").spec).not.toHaveProperty("replicas");
    expect(one(all, "HorizontalPodAutoscaler").spec.scaleTargetRef.name).toBe(
      one(all, "StatefulSet").metadata.name,
    );
  });

  test("has the project's version", async () => {
    const { version } = await Bun.file(join(ROOT, "package.json")).json();
    const chart = parse(await Bun.file(join(CHART, "Chart.yaml")).text());
    expect([chart.version, chart.appVersion]).toEqual([version, version]);
  });
});
