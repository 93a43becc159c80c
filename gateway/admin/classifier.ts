import { Elysia } from "elysia";
import { ClassifierView } from "#shared/admin/classifier.ts";
import { adminKey } from "../plugins/admin-key.ts";
import type { AdminDeps } from "./deps.ts";
import { adminRoute } from "./documented.ts";

const docs = adminRoute("routes");

/** `/admin/v1/classifier`: the classifier behind `auto`, and how well it distinguishes the routes. */
export const adminClassifier = (deps: AdminDeps) =>
  new Elysia({ name: "admin.classifier", prefix: "/classifier" }).use(adminKey(deps)).get(
    "",
    () => viewOf(deps.classifier),
    docs({
      summary: "How the classifier of `auto` was trained",
      description:
        "A change of routes starts training at once. `state` is `training` until the new classifier takes over; the old one serves until then.",
      answers: { 200: ClassifierView },
    }),
  );

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
