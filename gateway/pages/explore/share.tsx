import { Button, Menu, Modal } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { useState } from "react";
import type { Spec } from "#shared/report.ts";
import { CopyButton } from "../parts/copy.tsx";

/** One word of a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const curlOf = (spec: Spec): string =>
  [
    `curl ${location.origin}/v1/reports/query \\`,
    `  -H "authorization: Bearer $TALLYGATE_KEY" -H "content-type: application/json" \\`,
    `  -d ${quoted(JSON.stringify({ spec }))}`,
  ].join("\n");

/** The report for someone else, or for a script. */
export function Share({ spec }: { spec: Spec }) {
  const [isOpen, setOpen] = useState(false);
  const clipboard = useClipboard({ timeout: 2000 });
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" size="xs">
            {clipboard.copied ? "Copied" : "Share"}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => clipboard.copy(location.href)}>Copy the address</Menu.Item>
          <Menu.Item onClick={() => setOpen(true)}>Show as curl</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Modal
        opened={isOpen}
        onClose={() => setOpen(false)}
        title="As curl"
        size="lg"
        closeButtonProps={{ "aria-label": "Close" }}
      >
        <p className="mute small">
          With a client key whose scope is <code>reports</code>, or an admin token, in{" "}
          <code>TALLYGATE_KEY</code>.
        </p>
        <pre className="code">{curlOf(spec)}</pre>
        <CopyButton text={curlOf(spec)} />
      </Modal>
    </>
  );
}
