/** What comes after the @ of a model's version, such as `claude-opus-4@20250514`, is no domain. */
const EMAIL = /[^\s"'<>()[\],;:\\/|@]+@(?!(?:\d+|default|latest)(?![\w.-]))[^\s"'<>()[\],;:\\/|@]+/g;

/** A text with each e-mail address replaced by a name that is the same wherever the address is, and does not tell it. */
export const withoutEmails = (text: string, secret: string): string =>
  text.replace(EMAIL, (email) => {
    const digest = new Bun.CryptoHasher("sha256", secret).update(`masked e-mail ${email.toLowerCase()}`);
    return `person-${digest.digest("hex").slice(0, 12)}`;
  });
