import type { AlertTest, AlertView } from "#shared/admin/alerts.ts";
import { Act } from "../parts/act.tsx";
import { announce } from "../parts/announce.tsx";
import { moment, onOff, text } from "../parts/columns.tsx";
import { codeWords } from "../parts/words.ts";
import { ALERT } from "./forms/call-forms.ts";
import { type ResourceFacts, ResourcePage } from "./resource-panel.tsx";
import { useChange } from "./resources.ts";

const PATH = "/admin/v1/alerts";

const FACTS: ResourceFacts<AlertView> = {
  path: PATH,
  title: "Alerts",
  noun: "alert",
  sub: "Each state is reported once. A receiver that does not answer gets the message again for three days.",
  columns: {
    name: text("Name", ({ name }) => name),
    on: text("About", ({ on }) => on.map(codeWords).join(", ")),
    to: text("To", ({ to }) => to.addresses?.join(", ") ?? `${codeWords(to.kind)} ${to.url}`),
    sent: moment("Last sent", ({ last_sent_at: at }) => at, "never"),
    failure: text("Last failure", ({ failure }) => failure, "none"),
    enabled: onOff(({ enabled }) => enabled),
  },
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
    <Act mb="sm" act={send}>
      Send a test message
    </Act>
  );
}

/** What is reported, and to whom. */
export const AlertsPage = () => <ResourcePage facts={FACTS} />;
