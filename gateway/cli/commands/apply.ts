import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import type { Command } from "commander";
import { readPresent } from "#shared/env.ts";
import { isRecord } from "#shared/json.ts";
import { plural } from "#shared/plural.ts";
import { fits, open } from "#shared/schema.ts";
import { writeSecretFile } from "#shared/secret-file.ts";
import { DeclarationFault, type Declared, type FileFault, readDeclaration } from "../apply/declaration.ts";
import { type Members, RESOURCE_KINDS, type ResourceKind, type ResourceKindName } from "../apply/kinds.ts";
import { type PlanStep, planStep } from "../apply/plan.ts";
import { planSummary, stepText, titleOf } from "../apply/plan-text.ts";
import { type Api, ApiError, adminApi, listAll } from "../client/api.ts";
import { print, printNote, readNamed, URL_OPTION } from "./common.ts";

type Options = { url?: string; dryRun?: true; secretsTo?: string };

export const addApply = (program: Command) =>
  program
    .command("apply")
    .description("Apply settings from a file; applying it twice changes nothing.")
    .argument("<file>", "YAML file with providers, routes, keys, …; - for standard input")
    .option("--dry-run", "print what would change, and change nothing")
    .option(
      "--secrets-to <directory>",
      "write new keys' secrets to files in this directory instead of showing them",
    )
    .option(...URL_OPTION)
    .addHelpText("after", HELP)
    .action(async (file: string, options: Options) => {
      await apply(file, options);
    });

const HELP = `
Settings that the file does not name stay unchanged; null removes a value. \${NAME} is replaced by an environment variable,
and is the only way to give a credential. Prices are a list; everything else is keyed by name:

  providers:
    openai: { kind: openai, credential: "\${OPENAI_API_KEY}" }
  routes:
    coding: { surface: chat, provider: openai, model: gpt-5.1, description: Programming. }
  teams:
    search: { cost_center: CC-100 }
  people:
    ada@example.com: { role: manager, team: search, budget_usd: "50" }
  role-mappings:
    platform-leads: { role: manager }
  keys:
    ada: { owner: ada@example.com, team: search, scopes: { routes: [coding] } }
  budgets:
    company: { on: { kind: organisation }, amount_usd: "5000", mode: soft }
  prices:
    - { model: qwen3-coder, effective_from: 2026-01-01, input: "0.20", output: "0.80" }
  settings: { default_route: coding }

${`Kinds: ${Object.keys(RESOURCE_KINDS).join(", ")}.`.replaceAll(/(.{1,118})(?: |$)/g, "$1\n")}Their fields are those of the admin API (/openapi).`;

async function apply(file: string, options: Options): Promise<void> {
  const text = file === "-" ? await Bun.stdin.text() : await readNamed(file);
  await applyText(text, file === "-" ? "standard input" : file, options);
}

/** Applies a settings file's text; faults are named as in `named`. @throws DeclarationFault */
export async function applyText(text: string, named: string, options: Options): Promise<void> {
  const declared = readDeclaration(text, named, (name) => readPresent([name]).get(name));
  const api = adminApi(options.url);
  if (options.secretsTo && !options.dryRun) mkdirSync(options.secretsTo, { recursive: true, mode: 0o700 });
  const steps = await planOf(api, declared, named);
  for (const step of steps.filter(({ action, resent }) => action !== "keep" || resent.length > 0))
    print(stepText(step));
  if (options.dryRun) {
    print(`Plan: ${planSummary(steps, false)}.`);
    return;
  }
  await send(api, steps, { file: named, secretsTo: options.secretsTo });
  print(`Done: ${planSummary(steps, true)}.`);
}

/** @throws DeclarationFault for a name that cannot be reused, or a new resource without its required members. */
async function planOf(api: Api, declared: readonly Declared[], file: string): Promise<PlanStep[]> {
  const present = new Map<ResourceKindName, Map<string, Members>>();
  const steps: PlanStep[] = [];
  const faults: FileFault[] = [];
  for (const one of declared) {
    const things = present.get(one.kind) ?? (await thingsOf(api, RESOURCE_KINDS[one.kind]));
    present.set(one.kind, things);
    const thing = things.get(one.name) ?? null;
    const why = thing?.["status"] === "revoked" ? REVOKED : thing ? null : missingFrom(one);
    if (why !== null) faults.push({ ...one.placeOf(""), why });
    steps.push(planStep(one, thing));
  }
  if (faults.length > 0) throw new DeclarationFault(file, faults);
  return steps;
}

const REVOKED = "This key was revoked, which is permanent. Choose another name.";

/** Null: it has every member that a new one needs. */
function missingFrom({ kind, body }: Declared): string | null {
  const { required = [] }: ResourceKind["form"] = RESOURCE_KINDS[kind].form;
  const missing = required.filter((member) => !(member in body)).join(", ");
  return missing === "" ? null : `It does not exist yet, and a new one also needs ${missing}.`;
}

async function thingsOf(api: Api, kind: ResourceKind): Promise<Map<string, Members>> {
  const path = `/admin/v1${kind.path}`;
  const all =
    kind.shape === "single"
      ? [await api.call("GET", path).catch(unlessMissing)]
      : await listAll(api, path, Type.Unknown());
  return new Map(all.filter(isRecord).map((it) => [kind.nameOf(it), it]));
}

/** Null: there is none yet. */
function unlessMissing(error: unknown): null {
  if (error instanceof ApiError && error.status === 404) return null;
  throw error;
}

const WithSecret = open({ secret: Type.String() });

/** Prints a new key's secret as soon as the key exists. @throws DeclarationFault if the gateway refuses a step. */
async function send(
  api: Api,
  steps: readonly PlanStep[],
  { file, secretsTo }: { file: string; secretsTo: string | undefined },
): Promise<void> {
  const calls = steps.flatMap((step) => (step.call ? [{ step, ...step.call }] : []));
  for (const [at, { step, method, path, body }] of calls.entries()) {
    const answer = await api.call(method, path, body).catch((error: unknown) => {
      throw refusalOf(error, step, { file, left: calls.length - at - 1 });
    });
    if (fits(WithSecret, answer)) showSecret(step.declared.name, answer.secret, secretsTo);
  }
}

/** The gateway's refusal with the line of the member it names. */
function refusalOf(error: unknown, step: PlanStep, { file, left }: { file: string; left: number }): unknown {
  if (!(error instanceof ApiError)) return error;
  const pointer = /^(\/[^:\s]+):/.exec(error.message)?.[1] ?? "";
  const rest = left === 0 ? "" : ` ${left} after it ${plural(left, "was", "were")} not applied.`;
  const why = `${titleOf(step)} was refused: ${error.message}${rest}`;
  return new DeclarationFault(file, [{ ...step.declared.placeOf(pointer), why }]);
}

function showSecret(name: string, secret: string, directory: string | undefined): void {
  if (directory === undefined) {
    print(`key ${name}: ${secret}`);
    printNote(`the secret of ${name} is shown only once.`);
    return;
  }
  const file = join(directory, encodeURIComponent(name));
  writeSecretFile(file, secret);
  print(`key ${name}: its secret is in ${file}`);
}
