CREATE TABLE "digest_webhooks" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"sealed" text COLLATE "C" NOT NULL,
	"host" text COLLATE "C" NOT NULL,
	"allow_private_network" boolean NOT NULL,
	"created_at" timestamptz(3) NOT NULL,
	CONSTRAINT "digest_webhooks_org_id_pk" PRIMARY KEY("org_id")
);
--> statement-breakpoint
CREATE TABLE "digests" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"due_on" text COLLATE "C" NOT NULL,
	"channel" text COLLATE "C" NOT NULL,
	"due_at" timestamptz(3) NOT NULL,
	"state" text COLLATE "C" NOT NULL,
	"delivery_id" uuid NOT NULL,
	"content" jsonb,
	"sent_at" timestamptz(3),
	"remote_id" bigint,
	"busy_until" timestamptz(3),
	"attempts" smallint DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamptz(3),
	"failure" text COLLATE "C",
	CONSTRAINT "digests_org_id_due_on_channel_pk" PRIMARY KEY("org_id","due_on","channel")
);
--> statement-breakpoint
CREATE TABLE "github_feedback" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"repository_id" bigint NOT NULL,
	"number" integer NOT NULL,
	"remote_id" bigint,
	"head_sha" text COLLATE "C",
	"seen_at" timestamptz(3),
	"shown" text COLLATE "C",
	"shown_at" timestamptz(3),
	"busy_until" timestamptz(3),
	"attempts" smallint DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamptz(3),
	"failure" text COLLATE "C",
	CONSTRAINT "github_feedback_org_id_kind_repository_id_number_pk" PRIMARY KEY("org_id","kind","repository_id","number")
);
--> statement-breakpoint
CREATE TABLE "pull_request_commits" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"repository_id" bigint NOT NULL,
	"number" integer NOT NULL,
	"read_at" timestamptz(3),
	"claims" jsonb NOT NULL,
	"busy_until" timestamptz(3),
	"attempts" smallint DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamptz(3),
	"failure" text COLLATE "C",
	CONSTRAINT "pull_request_commits_org_id_repository_id_number_pk" PRIMARY KEY("org_id","repository_id","number")
);
