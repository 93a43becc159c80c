import { Button, type ButtonProps } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Fault } from "./page.tsx";

type ActProps<Answer> = ButtonProps & {
  act: () => Promise<Answer>;
  children: ReactNode;
  said?: (answer: Answer) => ReactNode;
};

/** A button that calls the gateway and shows the result below itself. */
export function Act<Answer>({ act, children, said, ...look }: ActProps<Answer>) {
  const { mutate, isPending, error, data } = useMutation({ mutationFn: act });
  return (
    <>
      <Button size="compact-sm" {...look} loading={isPending} onClick={() => mutate()}>
        {children}
      </Button>
      {error && <Fault error={error} />}
      {data !== undefined && said?.(data)}
    </>
  );
}
