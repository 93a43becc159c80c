/** Marks that turn the direction of text, and control characters: a name must not rearrange what is around it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const TRICKS = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
const SHOWN_MAX = 200;

/** A name from elsewhere as inert text: no marks that turn it, at most 200 characters. */
export function plainName(text: string): string {
  const plain = text.replace(TRICKS, "\ufffd");
  return plain.length > SHOWN_MAX ? `${plain.slice(0, SHOWN_MAX)}…` : plain;
}

/** A name that a client, a provider or GitHub chose, cut to one line. */
export function Foreign({ text, whole = false }: { text: string; whole?: boolean }) {
  const name = plainName(text);
  return (
    <bdi className={whole ? "foreign" : "cut"} title={whole ? undefined : name}>
      {name}
    </bdi>
  );
}
