import { PageHead } from "../parts/page-head.tsx";
import { KEYS } from "./key-facts.tsx";
import { ResourcePanel } from "./resource-panel.tsx";

/** Client keys: who may call, and what. */
export const KeysPage = () => (
  <>
    <PageHead title="Keys" />
    <ResourcePanel facts={KEYS} />
  </>
);
