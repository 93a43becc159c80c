import { Elysia } from "elysia";
import { GuardrailTry, GuardrailTryResult } from "#shared/admin/guardrails.ts";
import { matchesText } from "../guardrail/evaluate.ts";
import { pace } from "../guardrail/pace.ts";
import { textsOf } from "../guardrail/text.ts";
import { access } from "../identity/access.ts";
import { readJson } from "../plugins/body.ts";
import type { AdminDeps } from "./deps.ts";
import { adminRoute } from "./documented.ts";

const docs = adminRoute("guardrails");

/** `POST /admin/v1/guardrails/try`: which guardrails match a text, before a call meets them. */
export const adminGuardrailTry = (deps: AdminDeps) =>
  new Elysia({ name: "admin.guardrail-try", prefix: "/guardrails/try" }).use(access(deps)).post(
    "",
    async ({ request }): Promise<GuardrailTryResult> => {
      const { input } = await readJson(deps, request, GuardrailTry);
      const texts = textsOf([["input", input]]);
      const rules = deps.directory.current().guardrails.filter(({ pattern, detect }) => pattern ?? detect);
      const found = await Promise.all(
        rules.map((rule) => matchesText(rule, { texts: () => texts }, pace(deps.clock))),
      );
      return {
        matched: rules
          .filter((_, index) => found[index])
          .map(({ name, mode, action }) => ({ name, mode, action })),
      };
    },
    docs({
      summary: "Which guardrails match a text",
      description:
        "Tries patterns and detectors of all enabled guardrails. The text is not stored, and no service is asked.",
      body: GuardrailTry,
      answers: { 200: GuardrailTryResult },
    }),
  );
