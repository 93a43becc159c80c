import type { RouteView } from "#shared/admin/routes.ts";
import { PageHead } from "../parts/page-head.tsx";
import { switchColumn, textColumn } from "./cells.tsx";
import type { Field } from "./fields.ts";
import { Playground } from "./playground.tsx";
import { type ResourceFacts, ResourcePanel } from "./resource-panel.tsx";

const FIELDS: readonly Field[] = [
  {
    name: "name",
    label: "Name",
    kind: "text",
    required: true,
    createOnly: true,
    help: "What callers send as model. 1 to 64 of a-z, 0-9, _ and -.",
  },
  {
    name: "surface",
    label: "Surface",
    kind: "choice",
    options: ["chat", "embeddings", "image_generation", "tts", "rerank"],
    initial: "chat",
  },
  { name: "provider", label: "Provider", kind: "text", required: true },
  { name: "model", label: "Model", kind: "text", required: true },
  {
    name: "weight",
    label: "Weight",
    kind: "integer",
    nullable: true,
    help: "Share of the calls, if fallbacks have weights too.",
  },
  {
    name: "fallbacks",
    label: "Fallbacks",
    kind: "targets",
    help: "Tried in order, one a line: provider, model, and a weight if it shares the calls.",
  },
  {
    name: "description",
    label: "Description",
    kind: "area",
    help: "What the route is for. The classifier reads it.",
  },
  { name: "examples", label: "Examples", kind: "lines", help: "Texts that belong here, one a line." },
  { name: "keywords", label: "Keywords", kind: "lines" },
  {
    name: "guardrails",
    label: "Guardrails",
    kind: "lines",
    help: "Names of guardrails without conditions that apply here, one a line.",
  },
  {
    name: "first_byte_seconds",
    label: "Seconds until an answer must begin",
    kind: "integer",
    nullable: true,
  },
  {
    name: "refuse_with",
    label: "Refuse with",
    kind: "choice",
    options: ["block", "soft_deny"],
    initial: "block",
  },
  { name: "subscription_passthrough", label: "Callers' own subscriptions may pay", kind: "switch" },
  {
    name: "body_capture",
    label: "Capture bodies",
    kind: "switch",
    help: "Stores prompts and answers, encrypted, for at most 7 days. Every read is audited.",
  },
  { name: "enabled", label: "Enabled", kind: "switch", initial: true },
];

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
  fields: FIELDS,
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
