import type { RequestPage } from "#shared/admin/records.ts";
import { count } from "../parts/format.ts";

const KINDS = [
  ["input_tokens", "Input tokens"],
  ["uncached_input_tokens", "of them not from cache"],
  ["cache_read_tokens", "of them read from cache"],
  ["cache_write_5m_tokens", "of them written to cache for 5 minutes"],
  ["cache_write_1h_tokens", "of them written to cache for an hour"],
  ["audio_input_tokens", "of them audio"],
  ["image_input_tokens", "of them images"],
  ["output_tokens", "Output tokens"],
  ["reasoning_tokens", "of them reasoning"],
  ["audio_output_tokens", "of them audio"],
  ["image_output_tokens", "of them images"],
  ["images", "Images"],
  ["characters", "Characters"],
  ["documents", "Documents"],
  ["search_units", "Search units"],
  ["web_searches", "Web searches"],
  ["search_sources", "Search sources"],
] as const satisfies readonly (readonly [keyof RequestPage, string])[];

/** What was counted; what was not is left out. */
export function TokensByKind({ row }: { row: RequestPage }) {
  const known = KINDS.filter(([name]) => row[name] !== null);
  if (known.length === 0) return <p className="mute">The provider reported no usage for this call.</p>;
  return (
    <dl className="facts">
      {known.flatMap(([name, words]) => [
        <dt key={`${name} name`}>{words}</dt>,
        <dd key={name} className="number" style={{ textAlign: "left" }}>
          {count(row[name] ?? 0)}
        </dd>,
      ])}
    </dl>
  );
}
