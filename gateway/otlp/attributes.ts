import { LABEL_MAX, parseLabel, parseSessionId } from "#shared/labels.ts";
import type { MetricFacts } from "./metrics.ts";

/** The attributes that are stored (spec, Metrics receiver 5 and 6), and what each is. Any other is dropped. */
const ATTRIBUTES = {
  "service.name": "client",
  "enduser.id": "endUser",
  "user.id": "user",
  "session.id": "session",
  "gen_ai.request.model": "model",
  "gen_ai.response.model": "responseModel",
  "gen_ai.system": "system",
  "gen_ai.provider.name": "provider",
  "gen_ai.operation.name": "operation",
  "gen_ai.agent.name": "agent",
  "server.address": "serverAddress",
  "server.port": "serverPort",
  "error.type": "errorType",
  "telemetry.sdk.name": "sdkName",
  "telemetry.sdk.language": "sdkLanguage",
  "telemetry.sdk.version": "sdkVersion",
} as const;

export type AttributeColumn = (typeof ATTRIBUTES)[keyof typeof ATTRIBUTES];

/** Longest value of an attribute; a longer one is dropped whole (spec, Limits). */
const VALUE_LENGTH_MAX = 128;

/** Attributes as they were sent: a name and an OTLP AnyValue. */
export type Attributes = readonly (readonly [name: string, value: unknown])[];

/** What attributes say; null where one was sent that cannot be used. */
export type Told = Partial<Record<AttributeColumn, string | null>> & { kind?: string | null };

type Reading = Pick<MetricFacts, "attributes" | "kind"> & { drop: (name: string) => void };

/** Adds what `attributes` say to what the level above said; the nearer one decides, also when it cannot be used. */
export function readAttributes(above: Told, attributes: Attributes, it: Reading): Told {
  if (attributes.length === 0) return above;
  const kindName = typeof it.kind === "object" ? it.kind.attribute : null;
  const told: Told = { ...above };
  for (const [name, value] of attributes) {
    const column = name === kindName ? "kind" : columnOf(name, it.attributes);
    const text = column && textOf(value);
    if (column) told[column] = text;
    if (!text) it.drop(name);
  }
  return told;
}

function columnOf(name: string, own: MetricFacts["attributes"] = {}): AttributeColumn | null {
  if (Object.hasOwn(own, name)) return own[name] ?? null;
  return Object.hasOwn(ATTRIBUTES, name) ? ATTRIBUTES[name as keyof typeof ATTRIBUTES] : null;
}

/** A scalar AnyValue as a label; lists, objects and bytes are none. */
function textOf(value: unknown): string | null {
  if (typeof value !== "object" || value === null) return null;
  for (const [form, content] of Object.entries(value)) {
    const scalar = typeof content === "string" || typeof content === "number" || typeof content === "boolean";
    if (SCALARS.has(form) && scalar) return parseLabel(String(content), VALUE_LENGTH_MAX);
  }
  return null;
}

const SCALARS = new Set(["stringValue", "intValue", "doubleValue", "boolValue"]);

/** Claude Code's `user.id` is a hash made at installation: it names no person. */
const INSTALL_ID = /^[0-9a-f]{64}$/i;

/** Client, session and person of a point. `drop` is told what was sent and is none. */
export function whoOf(told: Told, { client }: Pick<MetricFacts, "client">, drop: (name: string) => void) {
  const name = told.client === undefined ? (client ?? UNKNOWN) : parseLabel(told.client, LABEL_MAX.client);
  const session = parseSessionId(told.session);
  if (told.client && !name) drop("service.name");
  if (told.session && !session) drop("session.id");
  const isInstallation = client === "claude-code" || name === "claude-code";
  const user = isInstallation && INSTALL_ID.test(told.user ?? "") ? null : (told.user ?? null);
  if (told.user && !user) drop("user.id");
  return { client: name ?? UNKNOWN, session, userLabel: told.endUser ?? user };
}

const UNKNOWN = "unknown";
