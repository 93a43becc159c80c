/** Attributes whose values are names of a vendor's or the product's own, and so may stand in a fixture. */
const KEPT =
  /^(service\.(name|version)|telemetry\.sdk\..*|gen_ai\..*|model|type|token_type|error\.type|terminal\.type|query_source|effort|originator|app\.version|start_type)$/;

/** 64 hexadecimal digits, a UUID, digits: a stand-in keeps the form, because the receiver looks at it. */
const FORMS: readonly [RegExp, (n: number) => string][] = [
  [/^[0-9a-f]{64}$/i, (n) => n.toString(16).padStart(64, "0")],
  [
    /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i,
    (n) => `00000000-0000-4000-8000-${n.toString(16).padStart(12, "0")}`,
  ],
];

const NUMBERS = new Set(["intValue", "doubleValue"]);

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** Replaces the texts of attributes that are not kept, the same text always by the same stand-in. */
export function scrubber(): (value: Json) => Json {
  const names = new Map<string, string>();
  const standIn = (text: string): string => {
    const known = names.get(text);
    if (known !== undefined) return known;
    const n = names.size + 1;
    const [, made] = FORMS.find(([form]) => form.test(text)) ?? [null, () => `scrubbed ${n}`];
    names.set(text, made(n));
    return made(n);
  };
  const texts = (value: Json): Json => {
    if (typeof value === "string") return standIn(value);
    if (Array.isArray(value)) return value.map(texts);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([form, content]) => [form, NUMBERS.has(form) ? 1 : texts(content)]),
    );
  };
  const walk = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value !== "object" || value === null) return value;
    const { key } = value;
    if (typeof key === "string" && value["value"] !== undefined) {
      return KEPT.test(key) ? value : { ...value, value: texts(value["value"]) };
    }
    return Object.fromEntries(Object.entries(value).map(([name, content]) => [name, walk(content)]));
  };
  return walk;
}
