import { Button, Group, Modal, TextInput, type TextInputProps } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { announce } from "../parts/announce.tsx";
import { Fault } from "../parts/page.tsx";
import { plainName } from "../parts/values.tsx";

type AskButtonProps = {
  verb: string;
  title: string;
  effect: string;
  color?: "red";
  size?: "xs" | "sm";
  field: TextInputProps;
  isReady: (typed: string) => boolean;
  act: (typed: string) => Promise<void>;
};

/** A button that asks for a text before it acts. */
export function AskButton({ verb, title, effect, color, size = "xs", field, isReady, act }: AskButtonProps) {
  const [isOpen, setOpen] = useState(false);
  const [typed, setTyped] = useState("");
  const acting = useMutation({ mutationFn: () => act(typed), onSuccess: () => setOpen(false) });
  return (
    <>
      <Button {...(color && { variant: "outline", color })} size={size} onClick={() => setOpen(true)}>
        {verb}
      </Button>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title={title}>
        <p>{effect}</p>
        {acting.error && <Fault error={acting.error} />}
        <TextInput
          {...field}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          data-autofocus
        />
        <Group justify="flex-end" mt="md">
          <Button onClick={() => setOpen(false)}>Cancel</Button>
          <Button
            {...{ variant: "filled", loading: acting.isPending, disabled: !isReady(typed) }}
            {...(color && { color })}
            onClick={() => acting.mutate()}
          >
            {verb}
          </Button>
        </Group>
      </Modal>
    </>
  );
}

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
export const DeleteButton = ({ name, verb, effect, size = "sm", remove }: DeleteButtonProps) => (
  <AskButton
    {...{ verb, effect, size, color: "red", title: `${verb} ${plainName(name)}?` }}
    field={{ label: `Type ${plainName(name)} to confirm`, autoComplete: "off", spellCheck: false }}
    isReady={(typed) => typed === name}
    act={async () => {
      await remove();
      announce(`${plainName(name)} was ${done(verb)}.`);
    }}
  />
);
