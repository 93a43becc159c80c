/**
 * `bun test/bench/forecast/main.ts [--fit]`: the error of forecasts and of anomalies in 50 generated worlds. `--fit` takes
 * other worlds, by which the constants were chosen.
 */
import { forecastFigures } from "./figures.ts";

const figures = forecastFigures(process.argv.includes("--fit") ? 5000 : 1000, 50);
const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
console.table({
  "month-end error at mid-month, median, companies": percent(figures.error.companies),
  "month-end error at mid-month, median, teams": percent(figures.error.teams),
  "months within the 80 % band, companies": percent(figures.within.companies),
  "months within the 80 % band, teams": percent(figures.within.teams),
  "spikes found": percent(figures.recall),
  "false alarms per team and month": figures.falseAlarms.toFixed(2),
});
