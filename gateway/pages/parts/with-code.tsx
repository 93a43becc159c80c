import type { ReactNode } from "react";

/** The gateway's own text, with what is in backticks as code. */
export const withCode = (text: string): ReactNode =>
  text.split("`").map((part, at) => (at % 2 === 1 ? <code key={part}>{part}</code> : part));
