import { Code, Group, NativeSelect } from "@mantine/core";
import { useState } from "react";
import { Act } from "../parts/act.tsx";
import { CopyButton } from "../parts/copy.tsx";
import { useChange } from "./resources.ts";

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

const GRACES = [
  { value: "0", label: "at once" },
  { value: "3600", label: "after an hour" },
  { value: "86400", label: "after a day" },
  { value: "604800", label: "after a week" },
];

/** A new secret for a key; the old one can stay valid for a while. */
export function KeyActions({ path, id }: { path: string; id: string }) {
  const change = useChange(path);
  const [grace, setGrace] = useState("3600");
  const [secret, setSecret] = useState<string | null>(null);
  const rotate = async () => {
    const body = { grace_seconds: Number(grace) };
    const answer = await change<Body>(`/${encodeURIComponent(id)}/rotate`, { method: "POST", body });
    setSecret(secretOf(answer));
  };
  if (secret !== null) return <SecretOnce secret={secret} what="the new secret" />;
  return (
    <Group align="end" mb="md">
      <NativeSelect
        label="The old secret ends"
        value={grace}
        onChange={(event) => setGrace(event.currentTarget.value)}
        data={GRACES}
      />
      <Act size="sm" act={rotate}>
        Make a new secret
      </Act>
    </Group>
  );
}

type Body = Readonly<Record<string, unknown>>;
