import { html, page } from "./html.ts";

export type PublicState = {
  webhookPath: string;
  /** Null: the App does not call GitHub. */
  appId: number | null;
  receivesWebhooks: boolean;
  /** Whether the set-up page can register an App. */
  canRegister: boolean;
};

/** The public page at `/`: whether the App is configured, and what to do next. It names no repository. */
export const publicPage = (state: PublicState): Response =>
  page(state.receivesWebhooks ? configured(state) : steps(state));

const configured = ({
  webhookPath,
  appId,
}: PublicState) => html`<p>Send webhooks to <code>${webhookPath}</code>.</p>
<p>${
  appId === null
    ? html`The App is <strong>receive-only</strong>: it verifies and processes webhooks, but does not call GitHub. Set <code>APP_ID</code> and <code>PRIVATE_KEY</code> to let it recover missed deliveries.`
    : html`It is the GitHub App <strong>${appId}</strong>.`
}</p>
<p>Deliveries are stored while the gateway's setting <code>pull_request_stamping</code> is on. Administrators find the App's state on <a href="/setup">its set-up page</a>.</p>`;

const steps = ({
  webhookPath,
  canRegister,
}: PublicState) => html`<p>The App is <strong>not configured</strong>: it accepts no webhooks. The gateway works without it, but reports on merged pull requests stay empty.</p>
${canRegister && html`<p><a href="/setup">Set it up</a> in a few minutes by a one-time link: GitHub registers the App, and this server stores its credentials.</p><p>Or by hand:</p>`}
<ol>
<li>Create a webhook secret of at least 16 characters, for example with <code>openssl rand -hex 32</code>.</li>
<li>Register a GitHub App under <em>Settings, Developer settings, GitHub Apps</em>. Its webhook URL is the address at which GitHub reaches this server, followed by <code>${webhookPath}</code>; its webhook secret is the one from step 1.</li>
<li>Repository permissions: <em>Pull requests</em> read-only, <em>Metadata</em> read-only. Events: <em>Pull request</em>, <em>Pull request review</em>, <em>Repository</em>.</li>
<li>Restart Tallygate with <code>WEBHOOK_SECRET</code>, <code>APP_ID</code> and <code>PRIVATE_KEY</code> (or <code>PRIVATE_KEY_PATH</code>) set. With <code>WEBHOOK_SECRET</code> alone the App is receive-only.</li>
<li>Install the App on the repositories to measure, and switch <code>pull_request_stamping</code> on in the gateway's settings.</li>
</ol>
<p>A pull request names its session on one line of its body: <code>Gateway-Session: &lt;session id&gt;</code>. It is the id that the calls sent as <code>x-session-id</code>.</p>`;
