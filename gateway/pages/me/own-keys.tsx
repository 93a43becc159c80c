import { Button, Modal } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { KeyView } from "#shared/admin/keys.ts";
import { postJson, sendJson } from "../data/api.ts";
import { type Columns, cell, moment, text } from "../parts/columns.tsx";
import { DataTable } from "../parts/data-table.tsx";
import { Empty, Panel } from "../parts/page.tsx";
import { DeleteButton } from "../settings/delete-button.tsx";
import { OWN_KEY } from "../settings/forms/people-forms.ts";
import { ResourceForm } from "../settings/forms/resource-form.tsx";
import { KeyActions, SecretOnce, secretOf } from "../settings/secret-once.tsx";

const PATH = "/v1/me/keys";

const columns = (open: (key: KeyView) => void): Columns<KeyView> => ({
  name: cell("Name", (key) => (
    <button type="button" className="row-link plain-button" onClick={() => open(key)}>
      {key.name}
    </button>
  )),
  secret: text("Secret", ({ secrets }) => secrets.map(({ last_four: end }) => `…${end}`).join(" ")),
  created: moment("Created", ({ created_at: at }) => at),
  expires: moment("Expires", ({ expires_at: at }) => at, "never"),
});

/** A person's own keys: make, rotate, revoke. `made` gets the secret of a new one. */
export function OwnKeys({ keys, made }: { keys: readonly KeyView[]; made: (secret: string | null) => void }) {
  const [isNew, setNew] = useState(false);
  const [chosen, setChosen] = useState<KeyView | null>(null);
  const client = useQueryClient();
  const renew = () => client.invalidateQueries({ queryKey: ["own"] });
  return (
    <Panel
      title="My keys"
      sub="A key lets your agents and scripts call the gateway as you."
      aside={
        <Button variant="filled" size="compact-sm" onClick={() => setNew(true)}>
          Make a key
        </Button>
      }
    >
      <DataTable
        {...{ label: "My keys", columns: columns(setChosen), rows: keys, rowKey: ["id"] }}
        none={<Empty title="No key yet">Make one, then connect an agent with it.</Empty>}
      />
      <Modal opened={isNew} onClose={() => setNew(false)} title="Make a key">
        <NewKey renew={renew} made={made} />
      </Modal>
      <Modal opened={chosen !== null} onClose={() => setChosen(null)} title={chosen?.name ?? ""} size="lg">
        {chosen && (
          <>
            <KeyActions path={PATH} id={chosen.id} />
            <DeleteButton
              name={chosen.name}
              verb="Revoke"
              effect="Calls with it are refused within five seconds."
              remove={async () => {
                await sendJson(`${PATH}/${encodeURIComponent(chosen.id)}`, { method: "DELETE" });
                setChosen(null);
                await renew();
              }}
            />
          </>
        )}
      </Modal>
    </Panel>
  );
}

type NewKeyProps = { renew: () => Promise<void>; made: (secret: string | null) => void };

function NewKey({ renew, made }: NewKeyProps) {
  const [secret, setSecret] = useState<string | null>(null);
  const make = async (body: Record<string, unknown>) => {
    const answer = secretOf(await postJson<Record<string, unknown>>(PATH, body));
    setSecret(answer);
    made(answer);
    await renew();
  };
  if (secret !== null) return <SecretOnce secret={secret} what="the key" />;
  return <ResourceForm form={OWN_KEY} view={null} action="Make the key" save={make} />;
}
