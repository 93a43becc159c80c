import { Button, type ButtonProps, FileButton, type FileButtonProps } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useRef } from "react";
import { Fault } from "./page.tsx";

type ActProps<Answer> = ButtonProps & {
  /** It gets the file that was chosen. */
  act: (file: File | null) => Promise<Answer>;
  /** A file of these kinds is chosen first. */
  accept?: string;
  children: ReactNode;
  said?: (answer: Answer) => ReactNode;
};

/** A button that calls the gateway and shows the result below itself. */
export function Act<Answer>({ act, accept, children, said, ...look }: ActProps<Answer>) {
  const { mutate, isPending, error, data } = useMutation({ mutationFn: act });
  const button = (props: { onClick: () => void }) => (
    <Button size="compact-sm" {...look} loading={isPending} {...props}>
      {children}
    </Button>
  );
  return (
    <>
      {accept === undefined ? (
        button({ onClick: () => mutate(null) })
      ) : (
        <ChooseFile accept={accept} choose={mutate}>
          {button}
        </ChooseFile>
      )}
      {error && <Fault error={error} />}
      {data !== undefined && said?.(data)}
    </>
  );
}

type ChooseFileProps = Pick<FileButtonProps, "accept" | "children"> & { choose: (file: File) => void };

/** The file can be chosen again once it is corrected: browsers ignore a choice that changes nothing. */
export function ChooseFile({ choose, ...props }: ChooseFileProps) {
  const reset = useRef<() => void>(null);
  const chosen = (file: File | null) => {
    if (file) choose(file);
    reset.current?.();
  };
  return <FileButton {...props} resetRef={reset} onChange={chosen} />;
}
