import { Kbd, Modal } from "@mantine/core";

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
    <dl className="keys">
      {KEYS.map(([key, meaning]) => (
        <div key={key} style={{ display: "contents" }}>
          <dt>
            <Kbd>{key}</Kbd>
          </dt>
          <dd>{meaning}</dd>
        </div>
      ))}
    </dl>
  </Modal>
);
