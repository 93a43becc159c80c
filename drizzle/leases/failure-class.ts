/** A failure's class, e.g. `PostgresError 40P01`, of its innermost cause. Never a message: it may quote what was sent. */
export function failureClass(error: unknown): string {
  const inner = innermost(error);
  if (!(inner instanceof Error)) return typeof inner;
  const code = "code" in inner && typeof inner.code === "string" ? ` ${inner.code}` : "";
  return `${inner.name}${code}`.slice(0, 100);
}

function innermost(error: unknown): unknown {
  let inner = error;
  for (let depth = 0; depth < 8; depth++) {
    if (inner instanceof AggregateError && inner.errors.length > 0) inner = inner.errors[0];
    else if (inner instanceof Error && inner.cause instanceof Error) inner = inner.cause;
    else break;
  }
  return inner;
}
