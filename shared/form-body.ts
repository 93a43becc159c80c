/** More than any form of ours has. */
const FIELDS_MAX = 32;
const AMPERSAND = 0x26;

/** The fields of a form body; null if it has more than any form of ours. They are counted before they are parsed. */
export function formIn(bytes: Uint8Array): URLSearchParams | null {
  let fields = 1;
  for (const byte of bytes) if (byte === AMPERSAND) fields++;
  return fields > FIELDS_MAX ? null : new URLSearchParams(new TextDecoder().decode(bytes));
}
