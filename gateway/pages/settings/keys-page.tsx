import { KEYS } from "./callers.tsx";
import { ResourcePage } from "./resource-panel.tsx";

/** Client keys: who may call, and what. */
export const KeysPage = () => <ResourcePage facts={KEYS} />;
