/** Gives each call and its response one id: Gemini's may have none, and then belong together by name and order. */
export type CallIds = {
  /** The id of a call. */
  called(name: string, id: string): string;
  /** The id of the call that a response answers; null if there is none. */
  answered(name: string, id: string): string | null;
};

type Waiting = { name: string; id: string; own: boolean };

export function callIds(): CallIds {
  const waiting: Waiting[] = [];
  let count = 0;
  const takeFirst = (fits: (call: Waiting) => boolean): string | null => {
    const index = waiting.findIndex(fits);
    const [call] = index === -1 ? [] : waiting.splice(index, 1);
    return call?.id ?? null;
  };
  return {
    called(name, id) {
      count += 1;
      const call = { name, id: id || `call_${count}`, own: id === "" };
      waiting.push(call);
      return call.id;
    },
    answered: (name, id) =>
      (id ? takeFirst((call) => !call.own && call.id === id) : null) ??
      // A client may number responses itself where the call had no id.
      takeFirst((call) => call.name === name && (call.own || id === "")),
  };
}
