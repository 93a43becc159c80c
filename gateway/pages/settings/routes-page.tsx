import type { RouteView } from "#shared/admin/routes.ts";
import { PageHead } from "../parts/page-head.tsx";
import { switchColumn, textColumn } from "./cells.tsx";
import { ROUTE } from "./forms/call-forms.ts";
import { Playground } from "./playground.tsx";
import { type ResourceFacts, ResourcePanel } from "./resource-panel.tsx";

const FACTS: ResourceFacts<RouteView> = {
  path: "/admin/v1/routes",
  title: "Routes",
  noun: "route",
  idOf: ({ name }) => name,
  nameOf: ({ name }) => name,
  columns: [
    textColumn("name", "Name", { of: ({ name }) => name }),
    textColumn("surface", "Surface", { of: ({ surface }) => surface }),
    textColumn("provider", "Provider", { of: ({ provider }) => provider }),
    textColumn("model", "Model", { of: ({ model }) => model }),
    textColumn("fallbacks", "Fallbacks", {
      of: ({ fallbacks }) => fallbacks.map(({ provider, model }) => `${provider}/${model}`).join(", "),
      none: "none",
    }),
    switchColumn(({ enabled }) => enabled),
  ],
  form: ROUTE,
  empty: "A route is a name for a kind of task, and the model that does it.",
  removal: {
    verb: "Delete",
    effect: "Calls that name it are answered with 404 from then on. Records keep its name.",
  },
};

/** Named kinds of task, and what `auto` makes of a text. */
export const RoutesPage = () => (
  <>
    <PageHead title="Routes" />
    <ResourcePanel facts={FACTS} />
    <Playground />
  </>
);
