import { RouteView } from "#shared/admin/routes.ts";
import { evaluateRoutes, evaluationText, readLabelledTexts } from "../../classifier/evaluate.ts";
import { trainModel } from "../../classifier/train.ts";
import { trainInputOf } from "../../classifier/train-input.ts";
import { adminApi, listAll } from "../client/api.ts";
import { readNamed } from "./common.ts";

/**
 * Evaluates the classifier for a gateway's routes on labelled texts and returns the result as lines. Routes come from
 * the admin API; texts are read and classified locally and never sent.
 * @throws Error naming the bad line of the file, or the gateway's error.
 */
export async function evaluateRoutesOf(file: string, url?: string): Promise<string> {
  const texts = readLabelledTexts(await readNamed(file));
  const input = trainInputOf(await listAll(adminApi(url), "/admin/v1/routes", RouteView));
  if (!input) throw new Error("No route of this gateway has a description, so there is no classifier.");
  const unknown = texts.find(
    ({ route }) => route !== null && input.routes.every(({ name }) => name !== route),
  );
  const lines = evaluationText(evaluateRoutes(trainModel(input), texts));
  return unknown ? `${lines}\n\nNo route is named ${unknown.route}: such texts count as wrong.` : lines;
}
