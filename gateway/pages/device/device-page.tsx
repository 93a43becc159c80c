import { Button, Group, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { DeviceSignIn } from "#shared/admin/device-sign-ins.ts";
import { useAddress } from "../data/address.ts";
import { postJson, useJson } from "../data/api.ts";
import { listSearch } from "../data/list-search.ts";
import { useMe } from "../data/me.ts";
import { Empty, Fault, PageHead, Waiting } from "../parts/page.tsx";
import { TypedForm } from "../parts/typed-form.tsx";

const readSearch = listSearch(["user_code"]);

/** Signs a device in that shows a code: `tallygate login`, or an agent. */
export function DevicePage() {
  const [{ user_code: code }, change] = useAddress(readSearch);
  const [decision, setDecision] = useState<DeviceAnswer | null>(null);
  return (
    <>
      <PageHead title="Sign in a device" />
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

const Decided = ({ decision }: { decision: DeviceAnswer }) =>
  decision === "approved" ? (
    <Empty title="The device is signed in">You can close this page. Its key is listed under My keys.</Empty>
  ) : (
    <Empty title="The device was refused">It received no key.</Empty>
  );

const CodeForm = ({ choose }: { choose: (code: string) => void }) => (
  <TypedForm className="panel" submit={({ code = "" }) => choose(code)}>
    <TextInput
      {...{ name: "code", label: "Code", description: "Shown on the device.", placeholder: "XXXX-XXXX" }}
      required
      autoComplete="off"
      data-autofocus
      {...{ mb: "md", maw: 240 }}
    />
    <Button type="submit" variant="filled">
      Continue
    </Button>
  </TypedForm>
);

type AskedProps = { code: string; again: () => void; decided: (given: DeviceAnswer) => void };

function Asked({ code, again, decided }: AskedProps) {
  const address = `/v1/me/devices/${encodeURIComponent(code)}`;
  const query = useJson<DeviceSignIn>(["device", code], address, {
    // Each question about a wrong code counts as a guess.
    retry: false,
    refetchOnWindowFocus: false,
  });
  if (query.error) {
    return (
      <>
        <Fault error={query.error} />
        <Group>
          <Button onClick={again}>Enter another code</Button>
        </Group>
      </>
    );
  }
  if (!query.data) return <Waiting height={160} />;
  return <DeviceRequest code={code} address={address} asked={query.data} decided={decided} />;
}

type DeviceAnswer = "approved" | "denied";

const PROGRAMS = { tallygate: "tallygate login", claude_code: "Claude Code" } as const;

type DeviceRequestProps = {
  code: string;
  address: string;
  asked: DeviceSignIn;
  decided: (given: DeviceAnswer) => void;
};

/** Who asks, and the two answers. Only the buttons send one. */
function DeviceRequest({ code, address, asked, decided }: DeviceRequestProps) {
  const { email } = useMe();
  const { mutate, isPending, error } = useMutation({
    mutationFn: (approve: boolean) => postJson(address, { approve }),
    onSuccess: (_, approve) => decided(approve ? "approved" : "denied"),
  });
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
      {error && <Fault error={error} />}
      <Group mt="md">
        <Button variant="filled" loading={isPending} onClick={() => mutate(true)}>
          Approve
        </Button>
        <Button disabled={isPending} onClick={() => mutate(false)}>
          Refuse
        </Button>
      </Group>
    </section>
  );
}
