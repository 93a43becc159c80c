/** The one organisation of an installation today; every table carries the column. */
export const DEFAULT_ORG = "default";

/** A uuidv7: unique, and ordered by the time at which it was made, also across clock steps. */
export const newId = (): string => Bun.randomUUIDv7();

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const isId = (text: string): boolean => UUID.test(text);
