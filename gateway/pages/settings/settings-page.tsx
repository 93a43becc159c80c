import { PageHead } from "../parts/page.tsx";
import { AGENT_SETTINGS, CALL_SETTINGS, DIGEST_SETTINGS, SIGN_IN_SETTINGS } from "./forms/people-forms.ts";
import { SettingsForm } from "./settings-form.tsx";

/** What applies to the whole installation. */
export const SettingsPage = () => (
  <>
    <PageHead title="Settings" />
    <SettingsForm title="Calls and records" form={CALL_SETTINGS} />
    <SettingsForm title="Agents" form={AGENT_SETTINGS} />
    <SettingsForm title="Sign-in" form={SIGN_IN_SETTINGS} />
    <SettingsForm title="Weekly digest" form={DIGEST_SETTINGS} />
  </>
);
