import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { SignInLink } from "#shared/admin/sign-in-links.ts";
import { sendJson } from "../data/api.ts";
import { Fault } from "../parts/states.tsx";
import { SecretOnce } from "./secret-once.tsx";

/** A link that signs a person in once, for whoever has no other way in. */
export function SignInLinkButton({ email }: { email: string }) {
  const link = useMutation({
    mutationFn: () => sendJson<SignInLink>("/admin/v1/sign-in-links", { method: "POST", body: { email } }),
  });
  if (link.data) return <SecretOnce secret={link.data.url} what="the link, which is valid for 15 minutes," />;
  return (
    <div className="note">
      {link.error && <Fault error={link.error} />}
      <Button size="compact-sm" variant="default" loading={link.isPending} onClick={() => link.mutate()}>
        Make a sign-in link
      </Button>
    </div>
  );
}
