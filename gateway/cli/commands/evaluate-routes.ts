import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pageOf } from "#shared/admin/fields.ts";
import { RouteView } from "#shared/admin/routes.ts";
import { fits } from "#shared/schema.ts";
import { readLauncherConfig } from "../../config.ts";
import { evaluateRoutes, readLabelledTexts } from "../../routing/classify/evaluate.ts";
import { evaluationText } from "../../routing/classify/evaluation-text.ts";
import { trainModel } from "../../routing/classify/train.ts";
import { trainInputOf } from "../../routing/trainable.ts";

/**
 * Holds the classifier of a gateway's routes against labelled texts, and tells the result as lines. The routes come
 * from the admin API; the texts are read and classified here and go nowhere.
 * @throws Error naming the bad line of the file, or what the gateway answered.
 */
export async function evaluateRoutesOf(file: string, url?: string): Promise<string> {
  const texts = readLabelledTexts(await readFile(file, "utf8"));
  const input = trainInputOf(await routesOf(url));
  if (!input) throw new Error("No route of this gateway says what it is for, so nothing classifies.");
  const unknown = texts.find(
    ({ route }) => route !== null && input.routes.every(({ name }) => name !== route),
  );
  const lines = evaluationText(evaluateRoutes(trainModel(input), texts));
  return unknown ? `${lines}\n\nNo route is named ${unknown.route}: such texts count as wrong.` : lines;
}

const Page = pageOf(RouteView);

async function routesOf(url?: string): Promise<RouteView[]> {
  const { publicUrl, host, port, adminKey, dataDirectory } = readLauncherConfig();
  const root = url ?? publicUrl ?? `http://${host}:${port}`;
  const key = adminKey?.reveal() ?? (await readFile(join(dataDirectory, "admin-key"), "utf8")).trim();
  const found: RouteView[] = [];
  for (let after: string | null = ""; after !== null; ) {
    const query = new URLSearchParams({ limit: "500", ...(after && { after }) });
    const answer = await fetch(`${root}/admin/v1/routes?${query}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const page: unknown = await answer.json().catch(() => null);
    if (!answer.ok || !fits(Page, page)) throw new Error(`${root} answered ${answer.status}.`);
    found.push(...page.data);
    after = page.next;
  }
  return found;
}
