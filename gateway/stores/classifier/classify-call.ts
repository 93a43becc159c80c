import { routeOf } from "../../classifier/classify.ts";
import { textToClassify, turnsOf } from "../../classifier/turns.ts";
import { memberValue } from "../../http/scan.ts";
import { autoChoice, routeNames } from "../../routing/auto.ts";
import type { Classify, RoutedCall } from "../../routing/lookups.ts";
import { surfaceFacts, type WireName } from "../../surface-facts.ts";
import type { RouteClassifier } from "./classifier.ts";

/** The route for `auto` on chat completions, messages, responses and Gemini's. The text is classified and dropped. */
export const classifyCall =
  (classifier: Pick<RouteClassifier, "current">): Classify =>
  (call, offer) => {
    if (surfaceFacts(call.surface).routeSurface !== "chat") return null;
    const text = textOf(call);
    const trained = text === null ? null : classifier.current();
    const verdict = trained && routeOf(trained.model, text ?? "", routeNames(offer));
    return autoChoice(offer, verdict, trained?.version ?? null);
  };

/** Where a format keeps the conversation. */
const MEMBERS: Readonly<Partial<Record<WireName, string>>> = { responses: "input", gemini: "contents" };

function textOf({ surface, body }: RoutedCall): string | null {
  const member = MEMBERS[surfaceFacts(surface).wire] ?? "messages";
  return textToClassify(turnsOf({ [member]: memberValue(body, member) }));
}
