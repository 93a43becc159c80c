/**
 * The two processes of `beside-calls.ts` that ask a gateway: one calls, and does nothing else, so that its times are
 * the gateway's; the other asks for reports.
 *
 *   bun beside-callers.ts call URL SECRET RATE SECONDS BEFORE   prints the milliseconds of each call as JSON, but for those
 *                                                               of so many seconds before
 *   bun beside-callers.ts hammer URL LOOPS                      until SIGTERM; prints how many reports were answered
 */
import { CATALOGUE } from "#gateway/reports/catalogue.ts";
import { RANGES } from "#shared/report.ts";
import { ADMIN_KEY } from "#test/support/gateway-process.ts";

const CONNECTIONS = 200;
const HEAD_END = "\r\n\r\n";

type Time = { seconds: number; before: number };
type Connection = {
  write(request: string): void;
  began: number;
  answer: string;
  isOpen: boolean;
  isWaiting: boolean;
};

/**
 * Calls at even distances, whether the ones before are answered or not, over connections that stay open. Callers are
 * elsewhere in life, where nothing of this machine delays them: the thread runs before all others if it may.
 */
async function call(url: URL, secret: string, rate: number, { seconds, before }: Time): Promise<number[]> {
  const body = JSON.stringify({
    model: "echo",
    messages: [{ role: "user", content: "why is the sky blue?" }],
  });
  const request =
    `POST /v1/chat/completions HTTP/1.1\r\nhost: ${url.host}\r\nauthorization: Bearer ${secret}\r\n` +
    `content-type: application/json\r\ncontent-length: ${body.length}${HEAD_END}${body}`;
  const free: Connection[] = [];
  const times: number[] = [];
  const connect = () =>
    connection(url, (it) => {
      times.push(performance.now() - it.began);
      free.push(it);
    });
  for (let i = 0; i < CONNECTIONS; i++) free.push(await connect());
  if (Bun.which("chrt")) Bun.spawnSync(["chrt", "--fifo", "--pid", "1", `${process.pid}`]);
  const apartMs = 1000 / rate;
  const uncounted = Math.floor(before * rate);
  const count = uncounted + Math.floor(seconds * rate);
  const began = performance.now();
  for (let i = 0; i < count; i++) {
    const wait = began + i * apartMs - performance.now();
    if (wait > 0) await Bun.sleep(wait);
    if (i - times.length >= CONNECTIONS) throw new Error(`${CONNECTIONS} calls are not answered`);
    // By turns: the gateway closes one that is open for ten seconds and was never used.
    let one = free.shift();
    while (one && !one.isOpen) one = free.shift();
    one ??= await connect();
    one.isWaiting = true;
    one.began = performance.now();
    one.write(request);
  }
  while (times.length < count) await Bun.sleep(5);
  return times.slice(uncounted);
}

/** A connection that is told of each whole answer. */
async function connection(url: URL, answered: (it: Connection) => void): Promise<Connection> {
  const it: Connection = { write: () => undefined, began: 0, answer: "", isOpen: true, isWaiting: false };
  const socket = await Bun.connect({
    hostname: url.hostname,
    port: Number(url.port),
    socket: {
      data(_, bytes) {
        it.answer += bytes.toString("latin1");
        if (!isWhole(it.answer)) return;
        if (!it.answer.startsWith("HTTP/1.1 200 ")) fail(it.answer);
        it.answer = "";
        it.isWaiting = false;
        answered(it);
      },
      close() {
        it.isOpen = false;
        if (it.isWaiting) fail("a call is not answered");
      },
    },
  });
  it.write = (request) => void socket.write(request);
  return it;
}

/** What a socket's handler throws would leave this process waiting. */
function fail(message: string): never {
  console.error(message);
  process.exit(1);
}

function isWhole(answer: string): boolean {
  const head = answer.indexOf(HEAD_END);
  if (head < 0) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(answer.slice(0, head));
  return length
    ? answer.length >= head + HEAD_END.length + Number(length[1])
    : answer.endsWith(`\r\n0${HEAD_END}`);
}

/** Asks for the built-in reports of all ranges with their comparison, in loops. */
async function hammer(url: string, loops: number): Promise<void> {
  let answered = 0;
  process.on("SIGTERM", () => {
    process.stdout.write(`${answered}\n`);
    process.exit(0);
  });
  const loop = async (first: number) => {
    for (let i = first; ; i++) {
      const report = `id=${CATALOGUE[i % CATALOGUE.length]?.id}&range=${RANGES[i % RANGES.length]}`;
      const answer = await fetch(`${url}/v1/reports?${report}&compare=previous_period`, {
        headers: { authorization: `Bearer ${ADMIN_KEY}` },
      });
      await answer.arrayBuffer();
      if (answer.ok) answered++;
    }
  };
  await Promise.all(Array.from({ length: loops }, (_, i) => loop(i * 3)));
}

const [what, url = "", ...words] = process.argv.slice(2);
if (what === "hammer") {
  await hammer(url, Number(words[0]));
} else {
  const time = { seconds: Number(words[2]), before: Number(words[3]) };
  const times = await call(new URL(url), words[0] ?? "", Number(words[1]), time);
  await Bun.write(Bun.stdout, JSON.stringify(times));
  process.exit(0);
}
