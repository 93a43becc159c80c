-- By hand: counts that reports no longer read. Days of teams are whole, and sessions of whole days are sums.
DELETE FROM "rollup_distinct_deltas" WHERE "entity" = 'session'
	AND ("kind" NOT IN ('total', 'subject') OR "scope" <> '' AND "previous" = '-infinity' OR "kind" = 'subject' AND "lane" = 2);
--> statement-breakpoint
DELETE FROM "rollup_distinct_deltas" WHERE "entity" = 'person' AND "kind" IN ('model', 'route') AND "lane" = 2;
