import { Button } from "@mantine/core";
import type { AlertTest, AlertView } from "#shared/admin/alerts.ts";
import { announce } from "../parts/announce.tsx";
import { momentColumn, switchColumn, textColumn } from "./cells.tsx";
import { ALERT } from "./forms/call-forms.ts";
import { type ResourceFacts, ResourcePage } from "./resource-panel.tsx";
import { useChange } from "./resources.ts";

const PATH = "/admin/v1/alerts";

const FACTS: ResourceFacts<AlertView> = {
  path: PATH,
  title: "Alerts",
  noun: "alert",
  sub: "Each state is reported once. A receiver that does not answer gets the message again for three days.",
  columns: [
    textColumn("name", "Name", { of: ({ name }) => name }),
    textColumn("on", "About", { of: ({ on }) => on.map((one) => one.replaceAll("_", " ")).join(", ") }),
    textColumn("to", "To", { of: ({ to }) => to.addresses?.join(", ") ?? `${to.kind} ${to.url}` }),
    momentColumn("sent", "Last sent", { of: ({ last_sent_at: at }) => at, none: "never" }),
    textColumn("failure", "Last failure", { of: ({ failure }) => failure, none: "none" }),
    switchColumn(({ enabled }) => enabled),
  ],
  form: ALERT,
  empty:
    "An alert sends a message when a budget reaches a threshold, spending jumps, a provider fails, and the like.",
  removal: {
    verb: "Delete",
    effect: "Its receiver gets no more messages, and what it has reported is forgotten.",
  },
  actions: (view) => <TestButton name={view.name} />,
};

function TestButton({ name }: { name: string }) {
  const change = useChange(PATH);
  const send = async () => {
    const place = `/${encodeURIComponent(name)}/test`;
    const { delivered, failure } = await change<AlertTest>(place, { method: "POST", body: {} });
    announce(delivered ? "The receiver took the test message." : `The receiver did not take it: ${failure}`);
  };
  return (
    <Button size="compact-sm" variant="default" mb="sm" onClick={() => void send()}>
      Send a test message
    </Button>
  );
}

/** What is reported, and to whom. */
export const AlertsPage = () => <ResourcePage facts={FACTS} />;
