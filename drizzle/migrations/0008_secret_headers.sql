-- Headers of providers may be secret: the audit log keeps the ends of their values. Rows are sealed by the gateway's start.
CREATE FUNCTION "pg_temp"."with_header_ends"(state jsonb) RETURNS jsonb LANGUAGE sql AS $$
	SELECT CASE WHEN jsonb_typeof(state->'headers') = 'object' THEN jsonb_set(state, '{headers}', (
		SELECT coalesce(jsonb_object_agg(key, CASE
			WHEN lower(key) IN ('accept', 'accept-language', 'anthropic-beta', 'anthropic-version', 'http-referer', 'openai-beta',
				'openai-organization', 'openai-project', 'referer', 'user-agent', 'x-goog-user-project', 'x-title') THEN value
			WHEN length(value) < 12 THEN '…'
			ELSE '…' || right(value, 4) END), '{}')
		FROM jsonb_each_text(state->'headers'))) ELSE state END $$;--> statement-breakpoint
ALTER TABLE "audit_entries" DISABLE TRIGGER "audit_entries_kept";--> statement-breakpoint
UPDATE "audit_entries" SET "before" = "pg_temp"."with_header_ends"("before"), "after" = "pg_temp"."with_header_ends"("after")
	WHERE "action" IN ('provider.set', 'provider.deleted');--> statement-breakpoint
ALTER TABLE "audit_entries" ENABLE TRIGGER "audit_entries_kept";
