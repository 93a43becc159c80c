import type { ReactNode } from "react";
import type { ClassifiedText } from "#shared/admin/classifier.ts";
import type { RouteView } from "#shared/admin/routes.ts";
import { onOff, text } from "../parts/columns.tsx";
import { percent } from "../parts/format.ts";
import { Facts } from "../parts/page.tsx";
import { codeWords } from "../parts/words.ts";
import { ROUTE } from "./forms/call-forms.ts";
import { type ResourceFacts, ResourcePage } from "./resource-panel.tsx";
import { TryPanel } from "./try-panel.tsx";

const FACTS: ResourceFacts<RouteView> = {
  path: "/admin/v1/routes",
  title: "Routes",
  noun: "route",
  columns: {
    name: text("Name", ({ name }) => name),
    surface: text("Surface", ({ surface }) => codeWords(surface)),
    provider: text("Provider", ({ provider }) => provider),
    model: text("Model", ({ model }) => model),
    fallbacks: text(
      "Fallbacks",
      ({ fallbacks }) => fallbacks.map(({ provider, model }) => `${provider}/${model}`).join(", "),
      "none",
    ),
    enabled: onOff(({ enabled }) => enabled),
  },
  spend: { by: "route", nameOf: ({ name }) => name },
  form: ROUTE,
  empty: "A route is a name for a kind of task, and the model that does it.",
  removal: { verb: "Delete", effect: "Calls that name it then get 404. Records keep its name." },
};

/** Named kinds of task, and where `auto` sends a text. */
export const RoutesPage = () => (
  <>
    <ResourcePage facts={FACTS} />
    <Playground />
  </>
);

const Playground = () => (
  <TryPanel<ClassifiedText>
    path="/admin/v1/classifier/try"
    sub="Where auto would send it, by the code that calls use. Nothing is stored and no model is called."
    action="Classify"
  >
    {({ route, confidence, reason, matched, candidates }, text) => (
      <>
        <p>
          <b>{route}</b>
          {confidence !== null && ` with ${percent(confidence)} confidence`}. {reason}
        </p>
        <p className="foreign" data-classified>
          {marked(text, matched)}
        </p>
        <Facts
          of={candidates.slice(0, 6).map(({ route: name, score }) => [name, score.toFixed(2)] as const)}
        />
      </>
    )}
  </TryPanel>
);

const escaped = (word: string): string => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** The text with the words that favoured the route. */
function marked(text: string, words: readonly string[]): ReactNode {
  const found = words.filter((word) => word.length > 1);
  if (found.length === 0) return text;
  const pattern = new RegExp(`(${found.map(escaped).join("|")})`, "giu");
  let at = 0;
  return text.split(pattern).map((part, index) => {
    at += part.length;
    return index % 2 === 1 ? <mark key={at}>{part}</mark> : part;
  });
}
