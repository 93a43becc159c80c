import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { ProviderTestResult, ProviderView } from "#shared/admin/providers.ts";
import { sendJson } from "../data/api.ts";
import { duration } from "../parts/format.ts";
import { Fault } from "../parts/states.tsx";
import { switchColumn, textColumn } from "./cells.tsx";
import { PROVIDER } from "./forms/call-forms.ts";
import { type ResourceFacts, ResourcePage } from "./resource-panel.tsx";

const FACTS: ResourceFacts<ProviderView> = {
  path: "/admin/v1/providers",
  title: "Providers",
  noun: "provider",
  columns: [
    textColumn("name", "Name", { of: ({ name }) => name }),
    textColumn("kind", "Kind", { of: ({ kind }) => kind }),
    textColumn("address", "Address", { of: ({ base_url: url }) => url, none: "the vendor's own" }),
    textColumn("credential", "Credential", {
      of: ({ credential_source: source }) => (source === "none" ? null : source),
      none: "none",
    }),
    {
      id: "health",
      head: "Health",
      cell: ({ health, learned_wires: learned }) => <Health health={health} learned={learned} />,
    },
    switchColumn(({ enabled }) => enabled),
  ],
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
        <span className="tag bad">paused: {worst.cause.replaceAll("_", " ")}</span>
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
function ProviderTest({ name }: { name: string }) {
  const test = useMutation({
    mutationFn: () =>
      sendJson<ProviderTestResult>(`/admin/v1/providers/${encodeURIComponent(name)}/test`, {
        method: "POST",
      }),
  });
  return (
    <div className="note" role="status">
      <Button size="compact-sm" variant="default" loading={test.isPending} onClick={() => test.mutate()}>
        Test the connection
      </Button>{" "}
      {test.error && <Fault error={test.error} />}
      {test.data && (
        <>
          <b>{test.data.ok ? "It works." : "It does not work."}</b> {test.data.message} (
          {duration(test.data.latency_ms)})
        </>
      )}
    </div>
  );
}
