/** Why a sign-in elsewhere failed: what `/sign-in?error=…` names, each with the sentence that the page shows. */
export const SIGN_IN_CAUSES = {
  state_mismatch:
    "This sign-in was started in another browser, was used before, or is over ten minutes old. Start it again.",
  denied: "You or the identity provider cancelled the sign-in.",
  invalid_answer: "The identity provider's answer could not be verified. Start the sign-in again.",
  email_missing: "The identity provider did not return your e-mail address, so you cannot be signed in.",
  email_unverified:
    "Your e-mail address is not verified at the identity provider. Verify it there, then sign in again.",
  not_member:
    "You are not a member of a GitHub organisation that uses this gateway. Ask an administrator for a one-time link, or to install the App in your organisation.",
  membership_pending:
    "Your invitation to the GitHub organisation is pending. Accept it on GitHub, then sign in again.",
  domain_not_allowed:
    "Addresses of this domain may not sign in here. Sign in with your work account, or ask an administrator for a one-time link.",
  group_missing:
    "You are in none of the groups that may sign in here. Ask an administrator to add you at the identity provider, or for a one-time link.",
  way_off: "This way to sign in is off. The sign-in page says why.",
  other_account:
    "Your e-mail address belongs to someone who signs in here with another account of this identity provider. If that is you, ask an administrator to unlink the other account: People and teams, or `tallygate people unlink`.",
  email_unusual:
    "Your e-mail address contains letters that can pass for others. Ask an administrator for a one-time link, or change the address at the identity provider.",
  person_disabled: "Your account here is disabled. An administrator can enable it.",
  unavailable: "The identity provider does not answer. Try again in a minute, or use a one-time link.",
  not_set_up: "This way to sign in is not set up.",
} as const;

export type SignInCause = keyof typeof SIGN_IN_CAUSES;
