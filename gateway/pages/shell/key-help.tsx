import { Kbd, Modal } from "@mantine/core";
import { Fragment } from "react";

const KEYS = [
  ["⌘ K", "or Ctrl K: find pages, people, keys, teams, pull requests and actions"],
  ["/", "Go to the page's search"],
  ["j", "Next row"],
  ["k", "Previous row"],
  ["Enter", "Open the row"],
  ["t", "Show a chart's figures as a table"],
  ["?", "Show these keys"],
] as const;

export const KeyHelp = ({ close }: { close: () => void }) => (
  <Modal opened onClose={close} title="Keyboard">
    <dl className="facts">
      {KEYS.map(([key, meaning]) => (
        <Fragment key={key}>
          <dt>
            <Kbd>{key}</Kbd>
          </dt>
          <dd>{meaning}</dd>
        </Fragment>
      ))}
    </dl>
  </Modal>
);
