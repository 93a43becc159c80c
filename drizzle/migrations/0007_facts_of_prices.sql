ALTER TABLE "requests" ADD COLUMN "cache_read_audio_tokens" integer;--> statement-breakpoint
ALTER TABLE "requests" ADD COLUMN "file_searches" integer;--> statement-breakpoint
ALTER TABLE "providers" ADD COLUMN "location" text COLLATE "C";