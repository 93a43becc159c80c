import { Group, NativeSelect } from "@mantine/core";
import { useState } from "react";
import { Act } from "../parts/act.tsx";
import { useChange } from "./resources.ts";
import { SecretOnce, secretOf } from "./secret-once.tsx";

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
