import { Button, Group } from "@mantine/core";
import { useState } from "react";
import type { DeviceSignIn } from "#shared/admin/device-sign-ins.ts";
import { sendJson } from "../data/api.ts";
import { useMe } from "../data/me.ts";
import { Fault } from "../parts/states.tsx";

export type DeviceAnswer = "approved" | "denied";

const PROGRAMS = { tallygate: "tallygate login", claude_code: "Claude Code" } as const;

type DeviceRequestProps = {
  code: string;
  /** Where the answer goes. */
  address: string;
  asked: DeviceSignIn;
  decided: (given: DeviceAnswer) => void;
};

/** Who asks, and the two answers. Only a button sends one. */
export function DeviceRequest({ code, address, asked, decided }: DeviceRequestProps) {
  const { email } = useMe();
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const answer = (approve: boolean) => {
    setBusy(true);
    setError(null);
    void sendJson(address, { method: "POST", body: { approve } })
      .then(() => decided(approve ? "approved" : "denied"))
      .catch(setError)
      .finally(() => setBusy(false));
  };
  const program = asked.program === null ? "A program" : PROGRAMS[asked.program];
  return (
    <section className="panel" aria-label="Who asks">
      <p>
        <b>{program}</b> on <b>{asked.device_name ?? "a computer without a name"}</b>
        {asked.address !== null && <>, at {asked.address},</>} asks for a key of <b>{email}</b>.
      </p>
      <p>
        The device must show this code: <code>{code}</code>
      </p>
      <p className="mute">Refuse it unless you have just started this sign-in yourself.</p>
      {error !== null && <Fault error={error} />}
      <Group mt="md">
        <Button loading={isBusy} onClick={() => answer(true)}>
          Approve
        </Button>
        <Button variant="default" disabled={isBusy} onClick={() => answer(false)}>
          Refuse
        </Button>
      </Group>
    </section>
  );
}
