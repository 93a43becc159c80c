import type { RequestView } from "#shared/admin/records.ts";
import { plainName } from "../parts/values.tsx";

type RequestStateProps = { row: RequestView; choose?: (name: string, value: string) => void };

/** How the call ended, in a word, with its status. */
export function RequestState({ row: { state, status, error_type: error }, choose }: RequestStateProps) {
  const isFine = state === "ok";
  const text = `${plainName((error ?? state).replaceAll("_", " "))}${status === null || isFine ? "" : ` · ${status}`}`;
  const tag = <span className={`tag ${isFine ? "good" : "bad"}`}>{isFine ? "ok" : text}</span>;
  if (!choose) return tag;
  const pick = () => (error === null ? choose("state", state) : choose("error_type", error));
  return (
    <button type="button" className="value-link" onClick={pick}>
      {tag}
    </button>
  );
}
