/** JSON with the names of members folded; objects are maps. */
export type FoldedJson = string | number | boolean | null | FoldedJson[] | Map<string, FoldedJson>;

/** How Go's `encoding/json` compares names: ASCII letters in any case, the long s, the Kelvin sign. */
export const foldedName = (name: string): string => name.replaceAll("ſ", "s").toLowerCase();

const TOKEN = /\s*("(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+)/gsu;

/**
 * Reads JSON as Go does for a struct: names in any case, the last of several, and an object that comes again adds to
 * the one before.
 */
export function parseFolded(text: string): FoldedJson {
  const tokens = [...text.matchAll(TOKEN)].map(([, token = ""]) => token);
  let at = 0;
  const next = () => tokens[at++] ?? "";

  function list(): FoldedJson[] {
    const values: FoldedJson[] = [];
    for (let token = next(); token !== "]"; token = next()) if (token !== ",") values.push(value(token));
    return values;
  }

  function object(): Map<string, FoldedJson> {
    const members = new Map<string, FoldedJson>();
    for (let token = next(); token !== "}"; token = next()) {
      if (token === ",") continue;
      const name = foldedName(JSON.parse(token));
      next();
      const before = members.get(name);
      const now = value(next());
      const both = before instanceof Map && now instanceof Map;
      members.set(name, both ? new Map([...before, ...now]) : now);
    }
    return members;
  }

  function value(token: string): FoldedJson {
    if (token === "{") return object();
    return token === "[" ? list() : JSON.parse(token);
  }

  return value(next());
}
