import { memberValue } from "../../http/scan.ts";
import { autoChoice } from "../../routing/auto.ts";
import { textToClassify, turnsOf } from "../../routing/classify/turns.ts";
import type { Classify, RoutedCall } from "../../routing/lookups.ts";
import { surfaceFacts } from "../../surface-facts.ts";
import type { RouteClassifier } from "./classifier.ts";

/**
 * Chooses for `auto` on the surfaces that people write to: chat completions, messages, responses. The text is read from
 * the body, classified and forgotten.
 */
export const classifyCall =
  (classifier: Pick<RouteClassifier, "current">): Classify =>
  (call, offer) =>
    surfaceFacts(call.surface).routeSurface === "chat"
      ? autoChoice(offer, classifier.current(), textOf(call))
      : null;

function textOf({ surface, body }: RoutedCall): string | null {
  const member = surfaceFacts(surface).wire === "responses" ? "input" : "messages";
  return textToClassify(turnsOf({ [member]: memberValue(body, member) }));
}
