import { Button, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { Fault } from "../parts/states.tsx";

export type LinkSignIn = { token: string; email?: string; name?: string };

type LinkFormProps = { token: string; error: unknown; signIn: (body: LinkSignIn) => Promise<void> };

/** A first administrator's link does not know yet whose it is. */
const isFirst = (token: string): boolean => token.startsWith("tgf_");

/** Nothing is used up before the button: a preview of the address must not sign in. */
export function LinkForm({ token, error, signIn }: LinkFormProps) {
  const [email, setEmail] = useState("admin@localhost");
  const [name, setName] = useState("");
  const [isBusy, setBusy] = useState(false);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    void signIn({ token, ...(isFirst(token) && { email, ...(name && { name }) }) }).finally(() =>
      setBusy(false),
    );
  };
  return (
    <form className="panel" onSubmit={submit}>
      {isFirst(token) ? (
        <>
          <p className="mute">You become the first administrator of this gateway.</p>
          <TextInput
            label="Your e-mail address"
            description="It names you in the audit log, and your keys belong to it."
            type="text"
            inputMode="email"
            autoComplete="email"
            required
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
            mb="md"
          />
          <TextInput
            label="Your name"
            autoComplete="name"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            mb="md"
          />
        </>
      ) : (
        <p className="mute">This link signs in the person that it was made for, once.</p>
      )}
      {error !== null && <Fault error={error} />}
      <Button type="submit" loading={isBusy} fullWidth>
        Sign in
      </Button>
    </form>
  );
}
