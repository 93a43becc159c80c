import { Button, Group, Modal, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { announce } from "../parts/announce.tsx";
import { plainName } from "../parts/foreign.tsx";
import { Fault } from "../parts/states.tsx";

type DeleteButtonProps = {
  /** Typed to confirm. */
  name: string;
  /** `Delete`, `Revoke` or `Disable`, and what it does. */
  verb: string;
  effect: string;
  size?: "xs" | "sm";
  remove: () => Promise<void>;
};

/** `deleted`, `unlinked`. */
const done = (verb: string) => `${verb.toLowerCase()}${verb.endsWith("e") ? "d" : "ed"}`;

/** Asks for the name before it deletes, because nothing here can be undone. */
export function DeleteButton({ name, verb, effect, size = "sm", remove }: DeleteButtonProps) {
  const [isOpen, setOpen] = useState(false);
  const [typed, setTyped] = useState("");
  const removal = useMutation({
    mutationFn: remove,
    onSuccess: () => {
      setOpen(false);
      announce(`${plainName(name)} was ${done(verb)}.`);
    },
  });
  return (
    <>
      <Button variant="outline" color="red" size={size} onClick={() => setOpen(true)}>
        {verb}
      </Button>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title={`${verb} ${plainName(name)}?`}>
        <p>{effect}</p>
        {removal.error && <Fault error={removal.error} />}
        <TextInput
          label={`Type ${plainName(name)} to confirm`}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
        />
        <Group justify="flex-end" mt="md">
          <Button onClick={() => setOpen(false)}>Cancel</Button>
          <Button
            variant="filled"
            color="red"
            disabled={typed !== name}
            loading={removal.isPending}
            onClick={() => removal.mutate()}
          >
            {verb}
          </Button>
        </Group>
      </Modal>
    </>
  );
}
