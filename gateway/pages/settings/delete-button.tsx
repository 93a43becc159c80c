import { Button, Group, Modal, TextInput } from "@mantine/core";
import { useState } from "react";
import { plainName } from "../parts/foreign.tsx";
import { Fault } from "../parts/states.tsx";

type DeleteButtonProps = {
  /** Typed to confirm. */
  name: string;
  /** `Delete`, `Revoke` or `Disable`, and what it does. */
  verb: string;
  effect: string;
  remove: () => Promise<void>;
};

/** Asks for the name before it deletes, because nothing here can be undone. */
export function DeleteButton({ name, verb, effect, remove }: DeleteButtonProps) {
  const [isOpen, setOpen] = useState(false);
  const [typed, setTyped] = useState("");
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const confirm = () => {
    setBusy(true);
    void remove()
      .then(() => setOpen(false))
      .catch(setError)
      .finally(() => setBusy(false));
  };
  return (
    <>
      <Button variant="outline" color="red" onClick={() => setOpen(true)}>
        {verb}
      </Button>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title={`${verb} ${plainName(name)}?`}>
        <p>{effect}</p>
        {error !== null && <Fault error={error} />}
        <TextInput
          label={`Type ${plainName(name)} to confirm`}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
        />
        <Group justify="flex-end" mt="md">
          <Button variant="default" onClick={() => setOpen(false)}>
            Cancel
          </Button>
          <Button color="red" disabled={typed !== name} loading={isBusy} onClick={confirm}>
            {verb}
          </Button>
        </Group>
      </Modal>
    </>
  );
}
