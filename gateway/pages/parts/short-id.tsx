import { Tooltip, UnstyledButton } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { plainName } from "./values.tsx";

const WHOLE_MAX = 20;
const HEAD = 8;
const TAIL = 4;

/** `01a21ecb…000b`: ids of one time begin alike, so their end is shown, too. */
export const shortId = (id: string): string =>
  id.length <= WHOLE_MAX ? id : `${id.slice(0, HEAD)}…${id.slice(-TAIL)}`;

/** An id, short; the whole on hover, and when it is copied. */
export const ShortId = ({ id }: { id: string }) => (
  <bdi title={plainName(id)} data-exact={id} className="id">
    {plainName(shortId(id))}
  </bdi>
);

export function CopyId({ id, what }: { id: string; what: string }) {
  const clipboard = useClipboard({ timeout: 2000 });
  const label = clipboard.copied ? "Copied" : `Copy the ${what}`;
  return (
    <Tooltip label={label}>
      <UnstyledButton className="copy-id no-print" aria-label={label} onClick={() => clipboard.copy(id)}>
        <svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true">
          {clipboard.copied ? (
            <path d="M2 6.5 5 9.5 10.5 3" />
          ) : (
            <path d="M4.5 4.5h6v6h-6zM2.5 7.5h-1v-6h6v1" />
          )}
        </svg>
      </UnstyledButton>
    </Tooltip>
  );
}
