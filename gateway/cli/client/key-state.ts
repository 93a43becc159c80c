export type KeyState = "valid" | "refused" | "away";

const ANSWER_MS_MAX = 5_000;

/** Whether a gateway takes a client key. */
export const keyState = (url: string, key: string): Promise<KeyState> =>
  fetch(`${url}/v1/models`, {
    redirect: "error",
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
    headers: { authorization: `Bearer ${key}` },
  }).then(
    async (answer) => {
      await answer.body?.cancel();
      if (answer.ok) return "valid";
      return answer.status === 401 ? "refused" : "away";
    },
    () => "away",
  );
