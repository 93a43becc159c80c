import { Button, Textarea } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { ClassifiedText } from "#shared/admin/classifier.ts";
import type { RouteView } from "#shared/admin/routes.ts";
import { sendJson } from "../data/api.ts";
import { percent } from "../parts/format.ts";
import { PageHead, Panel } from "../parts/page-head.tsx";
import { Fault } from "../parts/states.tsx";
import { switchColumn, textColumn } from "./cells.tsx";
import { ROUTE } from "./forms/call-forms.ts";
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
    effect: "Calls that name it then get 404. Records keep its name.",
  },
};

/** Named kinds of task, and where `auto` sends a text. */
export const RoutesPage = () => (
  <>
    <PageHead title="Routes" />
    <ResourcePanel facts={FACTS} />
    <Playground />
  </>
);

/** Which route `auto` chooses for a text, and the words that decided. The text is not stored. */
function Playground() {
  const [text, setText] = useState("");
  const attempt = useMutation({
    mutationFn: (input: string) =>
      sendJson<ClassifiedText>("/admin/v1/classifier/try", { method: "POST", body: { input } }),
  });
  const answer = attempt.data;
  return (
    <Panel
      title="Try a text"
      sub="Where auto would send it, by the code that calls use. Nothing is stored and no model is called."
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          attempt.mutate(text);
        }}
      >
        <Textarea
          label="Text"
          rows={4}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          required
          mb="sm"
        />
        <Button type="submit" loading={attempt.isPending}>
          Classify
        </Button>
      </form>
      {attempt.error && <Fault error={attempt.error} />}
      {answer && (
        <div role="status">
          <p>
            <b>{answer.route}</b>
            {answer.confidence !== null && ` with ${percent(answer.confidence)} confidence`}. {answer.reason}
          </p>
          <p className="foreign" data-classified>
            {marked(attempt.variables ?? "", answer.matched)}
          </p>
          <dl className="facts">
            {answer.candidates
              .slice(0, 6)
              .flatMap(({ route, score }) => [
                <dt key={`${route} name`}>{route}</dt>,
                <dd key={route}>{score.toFixed(2)}</dd>,
              ])}
          </dl>
        </div>
      )}
    </Panel>
  );
}

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
