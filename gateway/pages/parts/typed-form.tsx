import type { ReactNode } from "react";

type TypedFormProps = {
  /** Receives the entered values by field name. */
  submit: (typed: Readonly<Record<string, string>>) => void;
  className?: string;
  children: ReactNode;
};

/** A form whose fields keep what is typed until it is sent. */
export const TypedForm = ({ submit, className, children }: TypedFormProps) => (
  <form
    className={className}
    onSubmit={(event) => {
      event.preventDefault();
      const typed = [...new FormData(event.currentTarget)].map(
        ([name, value]) => [name, String(value)] as const,
      );
      submit(Object.fromEntries(typed));
    }}
  >
    {children}
  </form>
);
