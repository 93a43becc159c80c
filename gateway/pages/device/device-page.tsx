import { Button, Group, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { DeviceSignIn } from "#shared/admin/device-sign-ins.ts";
import { useAddress } from "../data/address.ts";
import { getJson } from "../data/api.ts";
import { oneText } from "../data/search.ts";
import { PageHead } from "../parts/page-head.tsx";
import { Empty, Fault, Waiting } from "../parts/states.tsx";
import { type DeviceAnswer, DeviceRequest } from "./device-request.tsx";

const readSearch = (raw: Record<string, unknown>) => ({ user_code: oneText(raw["user_code"]) });

/** Signs a device in that shows a code: `tallygate login`, or an agent. */
export function DevicePage() {
  const [{ user_code: code }, change] = useAddress(readSearch);
  const [decision, setDecision] = useState<DeviceAnswer | null>(null);
  return (
    <>
      <PageHead title="Sign a device in" />
      {decision !== null ? (
        <Decided decision={decision} />
      ) : code === undefined ? (
        <CodeForm choose={(typed) => change({ user_code: typed })} />
      ) : (
        <Asked code={code} again={() => change({ user_code: undefined })} decided={setDecision} />
      )}
    </>
  );
}

type DecidedProps = { decision: DeviceAnswer };

const Decided = ({ decision }: DecidedProps) =>
  decision === "approved" ? (
    <Empty title="The device is signed in">You can close this page. Its key is listed under My keys.</Empty>
  ) : (
    <Empty title="The device was refused">It received no key.</Empty>
  );

function CodeForm({ choose }: { choose: (code: string) => void }) {
  const [typed, setTyped] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    choose(typed);
  };
  return (
    <form className="panel" onSubmit={submit}>
      <TextInput
        label="Code"
        description="The device shows it."
        placeholder="XXXX-XXXX"
        required
        autoComplete="off"
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        data-autofocus
        mb="md"
      />
      <Button type="submit">Continue</Button>
    </form>
  );
}

type AskedProps = { code: string; again: () => void; decided: (given: DeviceAnswer) => void };

function Asked({ code, again, decided }: AskedProps) {
  const address = `/v1/me/devices/${encodeURIComponent(code)}`;
  const query = useQuery({
    queryKey: ["device", code],
    queryFn: ({ signal }) => getJson<DeviceSignIn>(address, signal),
    // Each question about a wrong code counts as a guess.
    retry: false,
    refetchOnWindowFocus: false,
  });
  if (query.error) {
    return (
      <>
        <Fault error={query.error} />
        <Group>
          <Button variant="default" onClick={again}>
            Enter another code
          </Button>
        </Group>
      </>
    );
  }
  if (!query.data) return <Waiting height={160} />;
  return <DeviceRequest code={code} address={address} asked={query.data} decided={decided} />;
}
