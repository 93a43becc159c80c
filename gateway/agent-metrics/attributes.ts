import { LABEL_MAX, parseLabel, parseSessionId } from "#shared/labels.ts";

/** The stored attributes and their columns. All others are dropped. */
const COLUMNS = {
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

export type AttributeColumn = (typeof COLUMNS)[keyof typeof COLUMNS];
const ATTRIBUTES: ReadonlyMap<string, AttributeColumn> = new Map(Object.entries(COLUMNS));

/** Longer values are dropped, not truncated. */
const VALUE_LENGTH_MAX = 128;

/** Attributes as sent: name and OTLP AnyValue. */
export type Attributes = readonly (readonly [name: string, value: unknown])[];

/** Attribute values; null for an attribute sent with an unusable value. */
export type AttributeValues = Partial<Record<AttributeColumn, string | null>> & { kind?: string | null };

type OwnAttributes = Readonly<Record<string, AttributeColumn>>;

/** How one metric's attributes are read. `drop` gets the name of every attribute that is not stored. */
type AttributeRules = {
  kind: string | { attribute: string };
  attributes?: OwnAttributes;
  client?: string;
  clientAliases?: RegExp;
  drop: (name: string) => void;
};

/** Adds `attributes` to those of the level above. The nearer level wins, even with an unusable value. */
export function readAttributes(
  above: AttributeValues,
  attributes: Attributes,
  { kind, attributes: own = {}, drop }: AttributeRules,
): AttributeValues {
  if (attributes.length === 0) return above;
  const kindName = typeof kind === "object" ? kind.attribute : null;
  const values: AttributeValues = { ...above };
  for (const [name, value] of attributes) {
    const column = name === kindName ? "kind" : columnOf(name, own);
    const text = column && scalarText(value);
    if (column) values[column] = text;
    if (!text) drop(name);
  }
  return values;
}

const columnOf = (name: string, own: OwnAttributes): AttributeColumn | null =>
  (Object.hasOwn(own, name) ? own[name] : ATTRIBUTES.get(name)) ?? null;

const SCALARS = new Set(["stringValue", "intValue", "doubleValue", "boolValue"]);

/** A scalar AnyValue as text; null for lists, objects and bytes. */
function scalarText(value: unknown): string | null {
  if (typeof value !== "object" || value === null) return null;
  for (const [form, content] of Object.entries(value)) {
    const scalar = typeof content === "string" || typeof content === "number" || typeof content === "boolean";
    if (SCALARS.has(form) && scalar) return parseLabel(String(content), VALUE_LENGTH_MAX);
  }
  return null;
}

/** Claude Code's `user.id` is a hash generated at installation; it identifies no person. */
const INSTALL_ID = /^[0-9a-f]{64}$/i;
const UNKNOWN = "unknown";

/** Client, session and user of a point; reports values that are not valid labels to `drop`. */
export function identityIn(
  values: AttributeValues,
  rules: Pick<AttributeRules, "client" | "clientAliases" | "drop">,
) {
  const { drop } = rules;
  const name = clientOf(values.client, rules);
  const session = parseSessionId(values.session);
  if (values.client && !name) drop("service.name");
  if (values.session && !session) drop("session.id");
  const isInstallation = rules.client === "claude-code" || name === "claude-code";
  const user = isInstallation && INSTALL_ID.test(values.user ?? "") ? null : (values.user ?? null);
  if (values.user && !user) drop("user.id");
  return { client: name ?? UNKNOWN, session, userLabel: values.endUser ?? user };
}

function clientOf(
  service: string | null | undefined,
  { client, clientAliases }: Pick<AttributeRules, "client" | "clientAliases">,
): string | null {
  if (service === undefined || clientAliases?.test(service ?? "")) return client ?? UNKNOWN;
  return parseLabel(service, LABEL_MAX.client);
}
