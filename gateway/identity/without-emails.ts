const EMAIL = /[^\s"'<>()[\],;:\\/|@]+@[^\s"'<>()[\],;:\\/|@]+/g;

/** A text with each e-mail address replaced by a name that is the same wherever the address is, and does not tell it. */
export const withoutEmails = (text: string, secret: string): string =>
  text.replace(EMAIL, (email) => {
    const digest = new Bun.CryptoHasher("sha256", secret).update(`masked e-mail ${email.toLowerCase()}`);
    return `person-${digest.digest("hex").slice(0, 12)}`;
  });
