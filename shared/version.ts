/** The version of this release, as in `package.json` and at the top of the changelog (a test compares the three). */
export const VERSION = "0.2.0";
