import { Code } from "@mantine/core";
import { CopyButton } from "../parts/copy.tsx";

/** A secret that no one can read again, with a way to copy it. */
export const SecretOnce = ({ secret, what }: { secret: string; what: string }) => (
  <div className="secret-once">
    <p>
      <b>Copy {what} now.</b> It is shown only once, because the gateway stores only its hash.
    </p>
    <Code block p="sm" data-secret tabIndex={0}>
      {secret}
    </Code>
    <CopyButton text={secret} label={`Copy ${what}`} />
  </div>
);

export const secretOf = (answer: Readonly<Record<string, unknown>>): string | null =>
  typeof answer["secret"] === "string" ? answer["secret"] : null;
