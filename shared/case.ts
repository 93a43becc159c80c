type Camel<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Name;

/** An object of the API with its members named as in code: `cache_write_5m` is `cacheWrite5m`. */
export type CamelCased<T> = { [Name in keyof T as Name extends string ? Camel<Name> : never]: T[Name] };

/** `cache_write_5m` as `cacheWrite5m`. */
export const camelCase = (name: string): string =>
  name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** The members that a body of the API has, named as the rows of the database name them. */
export const camelCased = <T extends object>(body: T): CamelCased<T> =>
  // The names are mapped as the type maps them.
  Object.fromEntries(Object.entries(body).map(([name, value]) => [camelCase(name), value])) as CamelCased<T>;
