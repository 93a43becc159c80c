/**
 * A histogram of latencies as one number, which adds up as the histograms do: twelve decimals for each bucket, those of
 * the lowest first, so that the number of decimals tells the highest. No bucket ever holds 10¹² calls.
 */
const DECIMALS = 12;

/** Buckets of latency in an octave, and in all. */
const PER_OCTAVE = 4;
const BUCKETS = 76;
const LEAST_MS = 8;

/** The least whole millisecond of each bucket; the first begins at 0, and the last has no end. */
export const BUCKET_FLOORS_MS: readonly number[] = Array.from({ length: BUCKETS }, (_, i) =>
  i === 0 ? 0 : Math.ceil(LEAST_MS * 2 ** (i / PER_OCTAVE)),
);
const LAST_MS = LEAST_MS * 2 ** (BUCKETS / PER_OCTAVE);
const BUCKET_CEILINGS_MS: readonly number[] = BUCKET_FLOORS_MS.map(
  (_, i) => (BUCKET_FLOORS_MS[i + 1] ?? LAST_MS + 1) - 1,
);

const one = (bucket: number): string => `1e-${DECIMALS * (bucket + 1)}`;

const ONES = `'{${BUCKET_FLOORS_MS.map((_, i) => one(i)).join(",")}}'::numeric[]`;

/** That of one record `r`; null without a latency. */
export const LATENCY_OF_ONE = `(${ONES})[1 + width_bucket(r.latency_ms, array[${BUCKET_FLOORS_MS.slice(1).join(",")}])]`;

/** The highest bucket, from 1 on. */
export const topOf = (latencies: string): string => `scale(${latencies}) / ${DECIMALS}`;

/** The most milliseconds in a bucket, which begins with 1. */
export const ceilingOf = (bucket: string): string => `(array[${BUCKET_CEILINGS_MS.join(",")}])[${bucket}]`;
const floorOf = (bucket: string): string => `(array[${BUCKET_FLOORS_MS.join(",")}])[${bucket}]`;

/**
 * Rows with `latencies` of so many `calls` and, as `at_most`, milliseconds that their 95th percentile does not exceed, and
 * mostly is: it is told exactly where both of its ranks lie in the two highest buckets that have calls. Each step is made
 * once, since the numbers have hundreds of decimals.
 */
export const withP95AtMost = (rows: string): string => `
    select d.*, (1 - weight) * ${fromTop("above")} + weight * ${fromTop("above - 1")} + ${ROUNDING_MS} as at_most
    from (
      select c.*, ((under - trunc(under, ${DECIMALS} * (second - 1))) / (${ONES})[second])::bigint as n2
      from (
        select b.*, ((latencies - under) / (${ONES})[top])::bigint as n,
          (scale(trim_scale(under)) + ${DECIMALS - 1}) / ${DECIMALS} as second,
          calls - 1 - 19 * (calls - 1) / 20 as above, (19 * (calls - 1) % 20) / 20.0::float8 as weight
        from (
          select r.*, ${topOf("latencies")} as top, trunc(latencies, scale(latencies) - ${DECIMALS}) as under
          from (${rows}
          ) r offset 0
        ) b offset 0
      ) c offset 0
    ) d`;

/** What is the latency of which so many are longer, at most: in the `top` bucket are `n`, in the `second` `n2`. */
const fromTop = (above: string): string =>
  `case when ${above} < n then ${within("top", `n - (${above})`, "n")}
      when ${above} < n + n2 then ${within("second", `n + n2 - (${above})`, "n2")}
      else ${ceilingOf("second - 1")} end`;

/** The latency of this `rank` in a bucket of `n`: they are linear within it. */
const within = (bucket: string, rank: string, n: string): string =>
  `(${floorOf(bucket)} + (${ceilingOf(bucket)} - ${floorOf(bucket)}) * (${rank} - 0.5::float8) / ${n})`;

/** More than floating point adds to a percentile. */
const ROUNDING_MS = 0.001;

/**
 * The 95th percentile of latencies as text: linear between the two nearest ranks, as where it is taken of single records,
 * and each of these ranks linear within its bucket. A rank's true value lies in the same bucket, so the result is off by
 * less than 2^¼ − 1 = 18.9 %, and by less than 10 ms below 10 ms. Over 70 minutes it reads as at most that.
 *
 * The two ranks are near the top, and buckets are looked at from there until both are found (their order is that of the
 * series; a window's own order would look at all). All calls are the remainder by 10¹² − 1, as by nine of a sum of digits.
 */
export const p95Sql = (text: string): string => `(
    select sum(
      case when place >= before and place < before + n then (1 - weight) * (floor + (ceiling - floor) * (place - before + 0.5) / n) else 0 end
      + case when weight > 0 and place + 1 >= before and place + 1 < before + n
        then weight * (floor + (ceiling - floor) * (place + 1 - before + 0.5) / n) else 0 end)
    from (
      select n, calls - upto as before, 19 * (calls - 1) / 20 as place, (19 * (calls - 1) % 20) / 20.0::float8 as weight,
        ${floorOf("bucket")} as floor, ${ceilingOf("bucket")} as ceiling
      from (
        select bucket, n, calls, (sum(n) over (rows unbounded preceding))::bigint as upto
        from (
          select bucket, calls, encode(substr(digits, ${DECIMALS} * bucket - ${DECIMALS - 1}, ${DECIMALS}), 'escape')::bigint as n
          from (
            select decode(decimals, 'escape') as digits, (decimals::numeric % ${"9".repeat(DECIMALS)})::bigint as calls,
              length(decimals) / ${DECIMALS} as top
            from (select substr(${text}, 3) as decimals offset 0) t offset 0
          ) t cross join lateral generate_series(top, 1, -1) bucket offset 0
        ) counted where n > 0
      ) summed where calls - upto <= 19 * (calls - 1) / 20 + 1 limit 2
    ) placed)`;
