/** What comes after the @ of a model's version, such as `claude-opus-4@20250514`, is no domain. */
const EMAIL = /[^\s"'<>()[\],;:\\/|@]+@(?!(?:\d+|default|latest)(?![\w.-]))[^\s"'<>()[\],;:\\/|@]+/g;

/** A text with each e-mail address replaced by a name that is the same for the same address and does not reveal it. */
export const withoutEmails = (text: string, secret: string): string =>
  text.replace(EMAIL, (email) => {
    const digest = new Bun.CryptoHasher("sha256", secret).update(`masked e-mail ${email.toLowerCase()}`);
    return `person-${digest.digest("hex").slice(0, 12)}`;
  });
