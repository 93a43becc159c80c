export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The JSON in a text; null for what is not JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** What is read of a value: a number also has its text. */
type Source = { source?: string };

/** As `parsedJson`, with numbers as they are written, as texts: a float would round amounts. */
export function exactJson(text: string): unknown {
  try {
    return JSON.parse(text, (_, value: unknown, it?: Source) =>
      typeof value === "number" ? it?.source : value,
    );
  } catch {
    return null;
  }
}
