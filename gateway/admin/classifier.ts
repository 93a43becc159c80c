import { ClassifiedText, ClassifierTry, ClassifierView } from "#shared/admin/classifier.ts";
import { turnsOf } from "../classifier/turns.ts";
import type { ClientKey } from "../directory.ts";
import { readJson } from "../plugins/body.ts";
import { classifiedText } from "../plugins/classified-text.ts";
import { type AdminDeps, adminPart } from "./deps.ts";
import { adminRoute } from "./documented.ts";

const docs = adminRoute("routes");

/** `/admin/v1/classifier`: the classifier behind `auto`, and how well it distinguishes the routes. */
export const adminClassifier = (deps: AdminDeps) =>
  adminPart(deps, "classifier")
    .get(
      "",
      () => viewOf(deps.classifier),
      docs({
        summary: "How the classifier of `auto` was trained",
        description:
          "A change of routes starts training at once. `state` is `training` until the new classifier takes over; the old one serves until then.",
        answers: { 200: ClassifierView },
      }),
    )
    .post(
      "/try",
      async ({ request }) => {
        const { input } = await readJson(deps, request, ClassifierTry);
        return classifiedText(deps, EVERY_ROUTE, turnsOf({ input }));
      },
      docs({
        summary: "Which route a text goes to, and why",
        description: "As `/v1/classify` answers a key without scopes. The text is not stored.",
        body: ClassifierTry,
        answers: { 200: ClassifiedText },
      }),
    );

const EVERY_ROUTE: ClientKey = {
  id: "",
  name: "",
  owner: null,
  scopes: {},
  limits: null,
  expiresAtMs: null,
  teams: null,
  sharedBudgets: [],
  costCenter: null,
};

function viewOf({ current, training }: AdminDeps["classifier"]): ClassifierView {
  const inForce = current();
  const { accuracy = null, confused = [], misfits = [] } = inForce?.model.report ?? {};
  return {
    state: training() ? "training" : inForce ? "ready" : "none",
    version: inForce?.version ?? null,
    trained_at: inForce?.trainedAt ?? null,
    routes: (inForce?.input.routes ?? []).map(({ name, examples, keywords }) => ({
      name,
      examples: examples.length,
      keywords: keywords.length,
    })),
    accuracy,
    confused,
    misfits: misfits.map(({ route, exampleId, looksLike }) => ({
      route,
      example: exampleId,
      looks_like: looksLike,
    })),
  };
}
