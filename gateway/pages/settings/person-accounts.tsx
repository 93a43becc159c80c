import { Group } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import type { LinkedAccount, PersonView } from "#shared/admin/people.ts";
import { sendJson, useJson } from "../data/api.ts";
import { type Columns, cell, moment, text } from "../parts/columns.tsx";
import { DataTable } from "../parts/data-table.tsx";
import { Answered, Empty, Panel } from "../parts/page.tsx";
import { AskButton, DeleteButton } from "./delete-button.tsx";

/** The accounts elsewhere that sign the person in, with ways to unlink and move them. */
export function PersonAccounts({ person: { id } }: { person: PersonView }) {
  const client = useQueryClient();
  const path = `/admin/v1/people/${encodeURIComponent(id)}/accounts`;
  const queryKey = ["person", id, "accounts"];
  const query = useJson<{ data: LinkedAccount[] }>(queryKey, path, { refetchInterval: 10_000 });
  const change = async (account: LinkedAccount, request: Parameters<typeof sendJson>[1]) => {
    await sendJson(`${path}/${account.id}`, request);
    await client.invalidateQueries({ queryKey: ["person"] });
  };
  const columns: Columns<LinkedAccount> = {
    way: text("Way in", ({ way }) => way),
    issuer: text("Issuer", ({ issuer }) => issuer, "unknown: it signs no one in"),
    account: text("Account", ({ account_id: account }) => account),
    since: moment("Linked", ({ created_at: at }) => at),
    last: moment("Last sign-in", ({ updated_at: at }) => at),
    actions: cell("", (account) => (
      <Group gap="xs" wrap="nowrap">
        <AskButton
          verb="Move"
          title="Move this account to another person"
          effect="It then signs in that person. The sessions of this person end."
          field={{ label: "E-mail of the other person", placeholder: "ada@example.com" }}
          isReady={(email) => email !== ""}
          act={(email) => change(account, { method: "PATCH", body: { email } })}
        />
        <DeleteButton
          name={account.account_id}
          verb="Unlink"
          effect="Their sessions end. The next verified sign-in that way with their e-mail links its account."
          size="xs"
          remove={() => change(account, { method: "DELETE" })}
        />
      </Group>
    )),
  };
  return (
    <Panel title="Linked accounts" sub="Accounts at identity providers that sign this person in.">
      <Answered query={query}>
        {({ data }) => (
          <DataTable
            {...{ label: "Linked accounts", columns, rows: data, rowKey: ["id"] }}
            none={
              <Empty title="No linked account">
                The next verified sign-in with this e-mail links one. One-time links work without.
              </Empty>
            }
          />
        )}
      </Answered>
    </Panel>
  );
}
