import { ClassifiedText } from "#shared/admin/classifier.ts";
import { turnsOf } from "../classifier/turns.ts";
import { type BodyBudget, holding } from "../http/body-budget.ts";
import { CALL } from "../http/deciding-names.ts";
import { memberValue, scanJson } from "../http/scan.ts";
import { readBody } from "../plugins/body.ts";
import { type ClassifiedTextDeps, classifiedText } from "../plugins/classified-text.ts";
import { type CallerCheck, keyed } from "../plugins/client-key.ts";
import type { RequestBodyDeps } from "../upstream/request-body.ts";
import { documented, jsonOf, NO_CLIENT_KEY } from "./documented.ts";

export type ClassifyDeps = RequestBodyDeps &
  ClassifiedTextDeps & {
    callers: CallerCheck;
    bodyBudget: BodyBudget;
    bytesMax: { json: number };
  };

const detail = (asked: Pick<Parameters<typeof documented>[1], "parameters" | "body">) =>
  documented("Which route a text goes to, and why", {
    tag: "Model surfaces",
    description:
      "What `auto` would choose for the text, by the same code and without a model call. Only routes in the key's scope are considered. The text is not stored.",
    ...asked,
    answers: {
      200: ["The route, and the reasons.", ClassifiedText],
      400: "The request has no text.",
      ...NO_CLIENT_KEY,
      403: "The key may use no route that the text could go to.",
    },
  });

const BODY = {
  oneOf: [
    { type: "object", required: ["input"], properties: { input: {} } },
    { type: "object", required: ["messages"], properties: { messages: { type: "array" } } },
  ],
  description:
    "`input`: a text, or items as in responses; `messages`: as in chat completions and messages. Reads the last user message, and the one before it if the last has under 20 characters.",
};

/** `GET /v1/classify?text=` and `POST /v1/classify`: what `auto` would choose, and why. */
export const classifySurface = (deps: ClassifyDeps) =>
  keyed(deps, "classify")
    .get(
      "/v1/classify",
      ({ request, caller }) => {
        const text = new URL(request.url).searchParams.get("text") ?? "";
        return classifiedText(deps, caller.key, turnsOf({ input: text }));
      },
      {
        clientKey: true,
        detail: detail({
          parameters: [
            {
              name: "text",
              in: "query",
              required: true,
              schema: { type: "string" },
              description: "The text.",
            },
          ],
        }),
      },
    )
    .post(
      "/v1/classify",
      ({ request, caller }) =>
        holding(deps.bodyBudget, async (hold) => {
          const bytes = await readBody(deps, request, { bytesMax: deps.bytesMax.json, hold });
          const body = scanJson(bytes, CALL);
          const said = { messages: memberValue(body, "messages"), input: memberValue(body, "input") };
          return classifiedText(deps, caller.key, turnsOf(said));
        }),
      { clientKey: true, parse: "none", detail: detail({ body: jsonOf(BODY) }) },
    );
