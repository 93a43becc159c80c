/** What the messages format takes as the id of a tool call. */
const FITS = /^[A-Za-z0-9_-]+$/;

/**
 * A tool call's id as the messages format takes it: the very same where it fits, else a fitting one that is always the
 * same for the same id, so that a call and its result still find each other.
 */
export const fittingToolId = (id: string): string =>
  FITS.test(id) ? id : `${id.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 40)}_${Bun.hash(id).toString(36)}`;
