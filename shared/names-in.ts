/** The names in a text, between blanks: a long list is easier to read so than with a line for each. */
export const namesIn = (text: string): string[] => text.match(/\S+/g) ?? [];
