/** What a call costs, in microseconds of CPU. */
export type CallCost = {
  /** Of all processes of the gateway, with what writes records to Postgres. */
  gateway: number;
  /** Of Postgres, until the records are stored. */
  postgres: number;
  /** Calls that were answered in a second on the measuring machine, which had the client and the provider, too. */
  perSecond: number;
};

/** The kinds of calls that are measured apart. */
export const CALL_KINDS = {
  plain: "plain answer, key without limits",
  streamed: "stream of 20 events, key without limits",
  limited: "plain answer, key with all limits",
  workers: "plain answer, `WORKERS=2`",
  copied: "plain answer, with `CLICKHOUSE_URL`",
} as const;
export type CallKind = keyof typeof CALL_KINDS;

export type StoreFigures = {
  /** Of a record with its indexes. */
  recordBytes: number;
  /** 95th percentiles of the slowest and of the fastest built-in report with its comparison, in milliseconds. */
  slowestMs: number;
  fastestMs: number;
};

/** What `main.ts` measures. Sizes are of databases with `records` records over 90 days. */
export type Figures = {
  measuredOn: string;
  cores: number;
  records: number;
  calls: Readonly<Record<CallKind, CallCost>>;
  /** CPU of one merge with its session named, in milliseconds: opened, then closed. */
  merge: { app: number; postgres: number };
  postgres: StoreFigures & {
    /** Of the sums that reports read, for each record. */
    sumBytes: number;
    /** CPU of making the sums of a record, in microseconds. */
    sumCpu: number;
  };
  clickhouse: {
    /** Of which its figures are. */
    records: number;
    /** In both tables of calls; of their sums; and CPU of making these, in microseconds. */
    recordBytes: number;
    sumBytes: number;
    sumCpu: number;
    /** Null: not measured on a quiet machine. */
    slowestMs: number | null;
    fastestMs: number | null;
    /** CPU of storing a million records as batches bring them, in seconds. */
    insertCpuPerMillion: number;
    /** CPU of the slowest built-in report for each million records that it may read, in seconds. */
    reportCpuPerMillion: number;
  };
};
