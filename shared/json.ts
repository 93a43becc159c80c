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

/** As `parsedJson`, with numbers as they are written, as texts: a float would round amounts. */
export function exactJson(text: string): unknown {
  try {
    return JSON.parse(text, (_, value: unknown, it?: { source?: string }) =>
      typeof value === "number" ? it?.source : value,
    );
  } catch {
    return null;
  }
}
