import { routeOf } from "../../classifier/classify.ts";
import { textToClassify, turnsOf } from "../../classifier/turns.ts";
import { memberValue } from "../../http/scan.ts";
import { autoChoice, routeNames } from "../../routing/auto.ts";
import type { Classify, RoutedCall } from "../../routing/lookups.ts";
import { surfaceFacts } from "../../surface-facts.ts";
import type { RouteClassifier } from "./classifier.ts";

/**
 * Chooses the route for `auto` on chat completions, messages and responses. The text is read from the body, classified
 * and dropped.
 */
export const classifyCall =
  (classifier: Pick<RouteClassifier, "current">): Classify =>
  (call, offer) => {
    if (surfaceFacts(call.surface).routeSurface !== "chat") return null;
    const text = textOf(call);
    const trained = text === null ? null : classifier.current();
    const verdict = trained && routeOf(trained.model, text ?? "", routeNames(offer));
    return autoChoice(offer, verdict, trained?.version ?? null);
  };

function textOf({ surface, body }: RoutedCall): string | null {
  const member = surfaceFacts(surface).wire === "responses" ? "input" : "messages";
  return textToClassify(turnsOf({ [member]: memberValue(body, member) }));
}
