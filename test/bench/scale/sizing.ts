import type { Figures } from "./figures.ts";

/** What the sizes assume. */
export const ASSUMED = {
  /** Of all calls, how many are streams of 20 events. */
  streams: 0.8,
  /** How busy the cores of a gateway and of a database are at the peak. The rest is for reports, and for a failure. */
  gatewayBusy: 0.6,
  databaseBusy: 0.5,
  /** The calls of an average second to those of a peak one. */
  averageToPeak: 0.25,
  callsPerMerge: 500,
  /** Cores of the smallest machine. */
  coresLeast: 2,
  /** Copies of the records in ClickHouse. */
  copies: 2,
  /** Records that a built-in report reads with its comparison, of those kept: two months of fifteen. */
  readShare: 2 / 15,
  /** What the slowest built-in report may take in ClickHouse. */
  reportSeconds: 2,
} as const;

/** List prices of Amazon Web Services, us-east-1, on demand, in USD: a vCPU of `m7g` with 4 GiB, and a GB of `gp3`. */
export const PRICES = { coreHour: 0.0408, gigabyteMonth: 0.08 } as const;

const HOURS_OF_MONTH = 730;
/** The calls of 90 days of which generated databases consist; a report with its comparison reads 60 of them. */
const READ_OF_MEASURED = 60 / 90;
/** Above so many records kept, reports are for ClickHouse. */
const POSTGRES_RECORDS_MAX = 10_000_000;
const MONTHS_KEPT = 15;

export const RATES = [10, 100, 1_000, 10_000] as const;
export const KEPT = [1e6, 1e7, 1e8, 1e9, 1e10, 1e11] as const;

type Part = "gateway" | "Postgres" | "ClickHouse";

export type RateSize = {
  /** Calls a second at the peak. */
  rate: number;
  recordsPerMonth: number;
  /** Of all machines together; ClickHouse only where its reports are needed. */
  cores: Partial<Record<Part, number>>;
  /** The part whose cores are busiest at the peak, and how busy they are, from 0 to 1. */
  saturates: { part: Part; busy: number };
  usdPerMonth: number;
};

/** What takes calls and records them, with limits on every key. Disks and reports are not in it. */
export function sizeForRate(rate: number, figures: Figures): RateSize {
  const recordsPerMonth = rate * ASSUMED.averageToPeak * HOURS_OF_MONTH * 3600;
  const isCopied = recordsPerMonth * MONTHS_KEPT > POSTGRES_RECORDS_MAX;
  const busy: Partial<Record<Part, number>> = {
    gateway: (rate * gatewayCpu(figures)) / 1e6,
    Postgres: (rate * postgresCpu(figures, isCopied)) / 1e6,
    ...(isCopied && { ClickHouse: (ASSUMED.copies * rate * figures.clickhouse.insertCpuPerMillion) / 1e6 }),
  };
  const parts = (Object.keys(busy) as Part[]).map((part) => {
    const allowed = part === "gateway" ? ASSUMED.gatewayBusy : ASSUMED.databaseBusy;
    const machines = part === "ClickHouse" ? ASSUMED.copies : 1;
    const cores = machines * machineCores((busy[part] ?? 0) / allowed / machines);
    return { part, cores, busy: (busy[part] ?? 0) / cores };
  });
  const cores = parts.reduce((sum, it) => sum + it.cores, 0);
  const busiest = parts.toSorted((a, b) => b.busy - a.busy)[0] ?? { part: "gateway", busy: 0 };
  return {
    rate,
    recordsPerMonth,
    cores: Object.fromEntries(parts.map((it) => [it.part, it.cores])),
    saturates: { part: busiest.part, busy: busiest.busy },
    usdPerMonth: cores * PRICES.coreHour * HOURS_OF_MONTH,
  };
}

/** Microseconds of a call. */
function gatewayCpu({ calls }: Figures): number {
  const { streams } = ASSUMED;
  const answer = streams * calls.streamed.gateway + (1 - streams) * calls.plain.gateway;
  return answer + Math.max(0, calls.limited.gateway - calls.plain.gateway);
}

/** Microseconds of a call. Sums follow the average, because they are made when there is time. */
function postgresCpu({ calls, merge, postgres }: Figures, isCopied: boolean): number {
  const limits = Math.max(0, calls.limited.postgres - calls.plain.postgres);
  const copying = isCopied ? Math.max(0, calls.copied.postgres - calls.plain.postgres) : 0;
  const merges = (merge.postgres * 1000) / ASSUMED.callsPerMerge;
  return calls.plain.postgres + limits + copying + merges + ASSUMED.averageToPeak * postgres.sumCpu;
}

export type KeptSize = {
  records: number;
  store: "Postgres" | "ClickHouse";
  /** Whether a database of this size was measured; others are in proportion to it. */
  isMeasured: boolean;
  postgresGigabytes: number;
  /** Of all copies; null where Postgres answers reports. */
  clickhouseGigabytes: number | null;
  /** Of each copy, so that the slowest built-in report takes `reportSeconds`. */
  clickhouseCores: number | null;
  /** Of the disks and of ClickHouse's cores. */
  usdPerMonth: number;
};

/** What keeps so many records, and answers reports about them. */
export function sizeForRecords(
  records: number,
  { postgres, clickhouse, records: measured }: Figures,
): KeptSize {
  const store = records > POSTGRES_RECORDS_MAX ? "ClickHouse" : "Postgres";
  const isCopied = store === "ClickHouse";
  const postgresGigabytes = (records * (postgres.recordBytes + postgres.sumBytes)) / 1e9;
  const clickhouseGigabytes = isCopied
    ? (ASSUMED.copies * records * (clickhouse.recordBytes + clickhouse.sumBytes)) / 1e9
    : null;
  const cpu = (records / 1e6) * ASSUMED.readShare * (clickhouse.reportCpuPerMillion / READ_OF_MEASURED);
  const clickhouseCores = isCopied ? machineCores(cpu / ASSUMED.reportSeconds) : null;
  const disks = (postgresGigabytes + (clickhouseGigabytes ?? 0)) * PRICES.gigabyteMonth;
  const machines = ASSUMED.copies * (clickhouseCores ?? 0) * PRICES.coreHour * HOURS_OF_MONTH;
  return {
    records,
    store,
    isMeasured: records === measured,
    postgresGigabytes,
    clickhouseGigabytes,
    clickhouseCores,
    usdPerMonth: disks + machines,
  };
}

/** Machines have powers of two. */
function machineCores(cores: number): number {
  return Math.max(ASSUMED.coresLeast, 2 ** Math.ceil(Math.log2(cores)));
}
