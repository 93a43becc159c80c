export type SetupState = {
  webhookPath: string;
  /** The App's id; null: nothing is asked of GitHub. */
  appId: number | null;
  receivesWebhooks: boolean;
};

/** The page at `/`: what is configured, and what to do next. It holds no secret and runs no script. */
export function setupPage(state: SetupState): Response {
  return new Response(page(state), {
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy":
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
    },
  });
}

const page = (state: SetupState): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tallygate GitHub App</title>
<style>
body { font: 1rem/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 44rem; padding: 0 1rem; }
code { background: #eee; border-radius: 3px; padding: 0.1em 0.3em; }
@media (prefers-color-scheme: dark) { body { background: #16181b; color: #e6e6e6; } code { background: #2b2f34; } }
</style>
</head>
<body>
<h1>Tallygate GitHub App</h1>
${state.receivesWebhooks ? configured(state) : steps(state)}
</body>
</html>
`;

const configured = ({
  webhookPath,
  appId,
}: SetupState): string => `<p>Webhooks are taken at <code>${webhookPath}</code>.</p>
<p>${
  appId === null
    ? "The App is <strong>receive-only</strong>: webhooks are verified and processed, and nothing is asked of GitHub. Set <code>APP_ID</code> and <code>PRIVATE_KEY</code> to let it ask."
    : `It acts as GitHub App <strong>${appId}</strong>.`
}</p>
<p>Deliveries are stored while the setting <code>pull_request_stamping</code> is on; an administrator switches it in the gateway.</p>`;

const steps = ({
  webhookPath,
}: SetupState): string => `<p>The App is <strong>not configured</strong>: it takes no webhooks. The gateway works without it; only reports on merged pull requests stay empty.</p>
<ol>
<li>Make a webhook secret of at least 16 characters, for example with <code>openssl rand -hex 32</code>.</li>
<li>Register a GitHub App under <em>Settings, Developer settings, GitHub Apps</em>. Its webhook URL is the address at which GitHub reaches this server, followed by <code>${webhookPath}</code>; its webhook secret is that of step 1.</li>
<li>Repository permissions: <em>Pull requests</em> read-only, <em>Metadata</em> read-only. Events: <em>Pull request</em>, <em>Pull request review</em>, <em>Repository</em>.</li>
<li>Start Tallygate again with <code>WEBHOOK_SECRET</code> set. That alone makes the App receive-only. With <code>APP_ID</code> and <code>PRIVATE_KEY</code> (or <code>PRIVATE_KEY_PATH</code>) it can also ask GitHub.</li>
<li>Install the App on the repositories to be measured, and switch <code>pull_request_stamping</code> on in the gateway's settings.</li>
</ol>
<p>A pull request names its session by one line in its body: <code>Gateway-Session: &lt;session id&gt;</code>, the id that the calls sent in <code>x-session-id</code>.</p>`;
