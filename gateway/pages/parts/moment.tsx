import { localDay, localMoment, shortMoment } from "./dates.ts";
import { Unknown } from "./money.tsx";

type MomentProps = { at: string | null; form?: "long" | "short" | "day"; unknown?: string };

const FORMS = { long: localMoment, short: shortMoment, day: localDay } as const;

/** A time in the reader's zone, with UTC on hover. */
export function Moment({ at, form = "short", unknown = "It has not happened." }: MomentProps) {
  if (at === null) return <Unknown reason={unknown} />;
  const utc = `${new Date(at).toISOString().replace("T", " ").replace("Z", "")} UTC`;
  return (
    <time dateTime={at} title={utc} data-exact={at} className="moment">
      {FORMS[form](at)}
    </time>
  );
}
