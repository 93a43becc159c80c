import { newStore, useStore } from "../data/store.ts";

const SHOWN_MS = 6_000;

const said = newStore("");
let timer: ReturnType<typeof setTimeout> | undefined;

/** Says for a moment that something was done. */
export function announce(text: string): void {
  clearTimeout(timer);
  said.set(text);
  timer = setTimeout(() => said.set(""), SHOWN_MS);
}

/** Where that is said, for the eye and for screen readers. */
export function Announcements() {
  const text = useStore(said);
  return (
    <div role="status" className="announcement no-print" data-shown={text !== ""}>
      {text !== "" && <bdi>✓ {text}</bdi>}
    </div>
  );
}
