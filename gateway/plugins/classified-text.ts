import type { ClassifiedText } from "#shared/admin/classifier.ts";
import { classify } from "../classifier/classify.ts";
import { textToClassify } from "../classifier/turns.ts";
import type { ClientKey, Directory } from "../directory.ts";
import { GatewayError, refuse } from "../errors.ts";
import { autoCandidates, autoChoice, routeNames } from "../routing/auto.ts";
import type { RouteClassifier } from "../stores/classifier/classifier.ts";

export type ClassifiedTextDeps = {
  directory: { current(): Directory };
  classifier: Pick<RouteClassifier, "current">;
};

/** What `auto` would choose, and why. @throws GatewayError invalid_request without a text; route_not_allowed */
export function classifiedText(
  deps: ClassifiedTextDeps,
  key: ClientKey,
  turns: readonly string[],
): ClassifiedText {
  const text = textToClassify(turns);
  if (text === null)
    refuse("There is no text to classify. Send `input` or `messages` with a user message, or `?text=`.");
  const directory = deps.directory.current();
  // The surfaces that people write to have the same routes.
  const offer = autoCandidates({ directory, surface: "chat.completions", key });
  const trained = deps.classifier.current();
  const found = trained && classify(trained.model, text, routeNames(offer));
  const choice = autoChoice(offer, found, trained?.version ?? null);
  if (!choice) throw new GatewayError("route_not_allowed", "This key may use no route of the chat surfaces.");
  const { confidence = null, matched = [], candidates = [], why = null } = found ?? {};
  const finding = found?.reason ?? "no route has a description";
  const fallback = offer.standard
    ? "the default route answers"
    : "the key may not use the default route, so the likeliest allowed route answers";
  const { route, source } = choice;
  const reason = source === "classifier" ? finding : `${finding}; ${fallback}`;
  return { route: route.name, source, confidence, reason, matched, candidates, why };
}
