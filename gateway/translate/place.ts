import { GatewayError } from "../errors.ts";
import type { Json } from "./exact-json.ts";

/** What becomes of a member whose loss would change the answer's meaning: the route's setting. */
export type OnInexpressible = "refuse" | "drop";

/** A member's name as an error or a header may quote it: no format has longer or other ones. */
const NAME = /^[A-Za-z_][\w.-]{0,63}$/;

/** How often each member was left out, by its path without indexes, such as `messages.content.annotations`. */
export type Dropped = ReadonlyMap<string, number>;

/** Members of one body that a translation leaves out. */
export class Losses {
  readonly onInexpressible: OnInexpressible;
  /** The provider takes cache marks. */
  readonly cacheMarks: boolean;
  readonly #dropped = new Map<string, number>();

  constructor(onInexpressible: OnInexpressible, { cacheMarks = false } = {}) {
    this.onInexpressible = onInexpressible;
    this.cacheMarks = cacheMarks;
  }

  get dropped(): Dropped {
    return this.#dropped;
  }

  drop(path: string): void {
    this.#dropped.set(path, (this.#dropped.get(path) ?? 0) + 1);
  }
}

/** A place in a client's body, such as `messages[2].content`. Its text is only built where something is said of it. */
export class BodyPlace {
  readonly losses: Losses;
  readonly #parent: BodyPlace | null;
  readonly #key: string | number;

  private constructor(losses: Losses, parent: BodyPlace | null, key: string | number) {
    this.losses = losses;
    this.#parent = parent;
    this.#key = key;
  }

  static body(losses: Losses): BodyPlace {
    return new BodyPlace(losses, null, "");
  }

  member(name: string): BodyPlace {
    return new BodyPlace(this.losses, this, name);
  }

  item(index: number): BodyPlace {
    return new BodyPlace(this.losses, this, index);
  }

  /** Counts what is here as left out. */
  drop(): void {
    this.losses.drop(this.#path());
  }

  toString(): string {
    if (this.#parent === null) return "";
    const before = this.#parent.toString();
    if (typeof this.#key === "number") return `${before}[${this.#key}]`;
    if (!NAME.test(this.#key)) return `${before || "the body"} (a field with an unusual name)`;
    return before === "" ? this.#key : `${before}.${this.#key}`;
  }

  #path(): string {
    if (this.#parent === null) return "";
    const before = this.#parent.#path();
    if (typeof this.#key === "number") return before;
    const name = NAME.test(this.#key) ? this.#key : "unusual";
    return before === "" ? name : `${before}.${name}`;
  }
}

/** The error for something that the provider's format cannot express. */
export const inexpressible = (at: BodyPlace, why?: string): GatewayError =>
  new GatewayError(
    "invalid_request",
    `\`${at}\` cannot be expressed in the provider's format${why ? `: ${why}` : ""}.`,
  );

/** The error for a value that is invalid in the client's own format. */
export const malformed = (at: BodyPlace, expected: string): GatewayError =>
  new GatewayError("invalid_request", `\`${at}\` must be ${expected}.`);

/** Drops a member that changes the meaning, if the route allows it. @throws GatewayError invalid_request if not. */
export function lose(at: BodyPlace, why?: string): void {
  if (at.losses.onInexpressible === "refuse") throw inexpressible(at, why);
  at.drop();
}

/** A client's body, or an object in it, and where it is. */
export type LocatedBody = { object: Json; at: BodyPlace };
