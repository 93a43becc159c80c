import { anomaliesOf, type DayCost, forecastOf, median } from "#gateway/reports/forecast.ts";
import { worldOf } from "./worlds.ts";

/** Months that are forecast on their 16th, and judged for spikes: history comes before them. */
const MONTHS = ["2026-06", "2026-07", "2026-08", "2026-09", "2026-10", "2026-11"];

const endOf = (month: string): string => {
  const [year = 0, number = 0] = month.split("-").map(Number);
  return new Date(Date.UTC(year, number)).toISOString().slice(0, 10);
};

function monthOf(days: readonly DayCost[], month: string) {
  const [from, to, today] = [`${month}-01`, endOf(month), `${month}-16`];
  const real = days.reduce((sum, { day, usd }) => (day.startsWith(month) ? sum + usd : sum), 0);
  const known = days.filter(({ day }) => day < today);
  const made = forecastOf(known, { from, to, today });
  if (!made) throw new Error("there are months of history");
  return {
    error: Math.abs(made.expectedUsd - real) / real,
    isWithin: made.lowUsd <= real && real <= made.highUsd,
  };
}

/** Of worlds with the seeds from `seed` on. */
export function forecastFigures(seed: number, count: number) {
  const worlds = Array.from({ length: count }, (_, at) => worldOf(seed + at));
  const judged = (all: readonly (readonly DayCost[])[]) => {
    const months = all.flatMap((days) => MONTHS.map((month) => monthOf(days, month)));
    return {
      error: median(months.map(({ error }) => error)),
      within: months.filter(({ isWithin }) => isWithin).length / months.length,
    };
  };
  const companies = judged(worlds.map(({ all }) => all));
  const allTeams = worlds.flatMap(({ teams }) => teams);
  const teams = judged(allTeams.map(({ days }) => days));
  let [spikes, found, wrong] = [0, 0, 0];
  for (const team of allTeams) {
    const from = `${MONTHS[0]}-01`;
    const alarms = new Set(anomaliesOf(team.days, from).map(({ day }) => day));
    const real = new Set([...team.spikes].filter((day) => day >= from));
    spikes += real.size;
    found += real.intersection(alarms).size;
    wrong += alarms.difference(real).size;
  }
  return {
    error: { companies: companies.error, teams: teams.error },
    within: { companies: companies.within, teams: teams.within },
    recall: found / spikes,
    falseAlarms: wrong / (allTeams.length * MONTHS.length),
  };
}
