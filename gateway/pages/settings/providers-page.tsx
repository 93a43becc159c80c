import type { ProviderTestResult, ProviderView } from "#shared/admin/providers.ts";
import { postJson } from "../data/api.ts";
import { Act } from "../parts/act.tsx";
import { cell, onOff, text } from "../parts/columns.tsx";
import { duration } from "../parts/format.ts";
import { codeWords } from "../parts/words.ts";
import { PROVIDER } from "./forms/call-forms.ts";
import { type ResourceFacts, ResourcePage } from "./resource-panel.tsx";

const FACTS: ResourceFacts<ProviderView> = {
  path: "/admin/v1/providers",
  title: "Providers",
  noun: "provider",
  columns: {
    name: text("Name", ({ name }) => name),
    kind: text("Kind", ({ kind }) => kind),
    address: text("Address", ({ base_url: url }) => url, "the vendor's own"),
    credential: text(
      "Credential",
      ({ credential_source: source }) => (source === "none" ? null : source),
      "none",
    ),
    health: cell("Health", ({ health, learned_wires: learned }) => (
      <Health health={health} learned={learned} />
    )),
    enabled: onOff(({ enabled }) => enabled),
  },
  spend: { by: "provider", nameOf: ({ name }) => name },
  form: PROVIDER,
  empty: "A provider answers your calls. Add one with its kind and a credential.",
  removal: { verb: "Delete", effect: "Its credential is deleted too. Records keep its name." },
  actions: ({ name }) => <ProviderTest name={name} />,
};

type HealthFacts = Pick<ProviderView, "health"> & { learned: ProviderView["learned_wires"] };

function Health({ health, learned }: HealthFacts) {
  const [worst] = health.filter(({ state }) => state !== "closed");
  return (
    <>
      {worst ? (
        <span className="tag bad">paused: {codeWords(worst.cause)}</span>
      ) : (
        <span className="mute">no failures</span>
      )}
      {learned.map(({ model, lacks, learned_at }) => (
        <div className="mute" key={`${model} ${lacks}`} title={`Learned ${learned_at}`}>
          {model} does not take {lacks}
        </div>
      ))}
    </>
  );
}

/** The providers that answer calls, and their credentials. */
export const ProvidersPage = () => <ResourcePage facts={FACTS} />;

/** Asks the provider for its models, and reports the outcome in words. */
const ProviderTest = ({ name }: { name: string }) => (
  <div className="note" role="status">
    <Act
      act={() => postJson<ProviderTestResult>(`/admin/v1/providers/${encodeURIComponent(name)}/test`)}
      said={({ ok, message, latency_ms: ms }) => (
        <>
          {" "}
          <b>{ok ? "It works." : "It does not work."}</b> {message} ({duration(ms)})
        </>
      )}
    >
      Test the connection
    </Act>
  </div>
);
