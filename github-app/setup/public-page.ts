import { html, page } from "./html.ts";

export type PublicState = {
  webhookPath: string;
  /** The App's id; null: nothing is asked of GitHub. */
  appId: number | null;
  receivesWebhooks: boolean;
  /** Whether the set-up page can make an App. */
  canRegister: boolean;
};

/** The page at `/`, for anybody: whether the App is configured, and what to do next. It names no repository. */
export const publicPage = (state: PublicState): Response =>
  page(state.receivesWebhooks ? configured(state) : steps(state));

const configured = ({
  webhookPath,
  appId,
}: PublicState) => html`<p>Webhooks are taken at <code>${webhookPath}</code>.</p>
<p>${
  appId === null
    ? html`The App is <strong>receive-only</strong>: webhooks are verified and processed, and nothing is asked of GitHub. Set <code>APP_ID</code> and <code>PRIVATE_KEY</code> to let it ask.`
    : html`It acts as GitHub App <strong>${appId}</strong>.`
}</p>
<p>Deliveries are stored while the setting <code>pull_request_stamping</code> is on; an administrator switches it in the gateway. What the App sees is on <a href="/setup">its set-up page</a>, for administrators.</p>`;

const steps = ({
  webhookPath,
  canRegister,
}: PublicState) => html`<p>The App is <strong>not configured</strong>: it takes no webhooks. The gateway works without it; only reports on merged pull requests stay empty.</p>
${canRegister && html`<p><a href="/setup">Set it up</a> in a few minutes: GitHub makes the App, and this server keeps its credentials. The admin key is asked for.</p><p>Or by hand:</p>`}
<ol>
<li>Make a webhook secret of at least 16 characters, for example with <code>openssl rand -hex 32</code>.</li>
<li>Register a GitHub App under <em>Settings, Developer settings, GitHub Apps</em>. Its webhook URL is the address at which GitHub reaches this server, followed by <code>${webhookPath}</code>; its webhook secret is that of step 1.</li>
<li>Repository permissions: <em>Pull requests</em> read-only, <em>Metadata</em> read-only. Events: <em>Pull request</em>, <em>Pull request review</em>, <em>Repository</em>.</li>
<li>Start Tallygate again with <code>WEBHOOK_SECRET</code> set. That alone makes the App receive-only. With <code>APP_ID</code> and <code>PRIVATE_KEY</code> (or <code>PRIVATE_KEY_PATH</code>) it can also ask GitHub.</li>
<li>Install the App on the repositories to be measured, and switch <code>pull_request_stamping</code> on in the gateway's settings.</li>
</ol>
<p>A pull request names its session by one line in its body: <code>Gateway-Session: &lt;session id&gt;</code>, the id that the calls sent in <code>x-session-id</code>.</p>`;
